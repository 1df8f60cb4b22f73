package explain

import (
	"uverbsim/casefile"
)

// Case is a case that was played.
type Case struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Driver string `json:"driver"`
	Kernel string `json:"kernel"`
	Why    string `json:"why,omitempty"`
	Steps  []Step `json:"steps"`
	// Error says why the case could not be played to its end.
	Error string `json:"error,omitempty"`
}

// Step is a step of a case, and what came of it.
type Step struct {
	Step int    `json:"step"` // from 0
	Does string `json:"does"` // "ioctl f UVERBS_METHOD_CQ_CREATE"
	Ret  string `json:"ret"`
	// Errno is the name of the errno, "" for a call that was not refused.
	Errno string `json:"errno"`
	// Differences say where the answer is not the recorded one.
	Differences []casefile.Difference `json:"differences,omitempty"`
	// Refusals say why calls of the step were refused: one, or several of a step
	// that has threads.
	Refusals []*Refusal `json:"refusals,omitempty"`
	// NoRule is the error of a refusal that no rule is behind.
	NoRule string `json:"no_rule,omitempty"`
}
