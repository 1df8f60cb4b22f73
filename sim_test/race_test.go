//go:build race

package sim_test

// raceDetector says whether the race detector watches, under which times say nothing.
const raceDetector = true
