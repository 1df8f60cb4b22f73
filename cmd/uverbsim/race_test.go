//go:build race

package main

// raceDetector says whether the race detector watches, which makes everything slow.
const raceDetector = true
