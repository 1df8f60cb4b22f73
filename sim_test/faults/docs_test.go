package faults_test

import (
	"fmt"
	"strings"
	"testing"

	"uverbsim/rule"
	"uverbsim/sim_test/faults"
	"uverbsim/sim_test/suite"
	"uverbsim/trace"
)

// TestDocument holds the tables of the page to those of this package; with -update it
// writes them.
func TestDocument(t *testing.T) {
	suite.Page(t, "../../docs/faults.md",
		map[string]string{"kinds": kindsTable(), "exceptions": exceptionsTable(), "effects": effectsTable()}, *update)
}

func kindsTable() string {
	var b strings.Builder
	b.WriteString("| kind | the call answers |\n|---|---|\n")
	for k := range trace.NumSteps {
		fmt.Fprintf(&b, "| %s | %s |\n", k, rule.ErrnoName(faults.ByKind[k]))
	}
	return b.String()
}

func exceptionsTable() string {
	var b strings.Builder
	b.WriteString("| steps | in | the call answers | why |\n|---|---|---|---|\n")
	for i := range faults.Exceptions {
		e := &faults.Exceptions[i]
		var kinds, answers []string
		for _, k := range e.Kinds {
			kinds = append(kinds, k.String())
		}
		for _, errno := range e.Errno {
			answers = append(answers, rule.ErrnoName(errno))
		}
		if e.Copied {
			answers = append(answers, "EFAULT")
		}
		if e.GoesOn {
			answers = append(answers, "what it does without")
		}
		steps := strings.TrimSpace(strings.Join(kinds, ", ") + " " + strings.Join(e.What, ", "))
		if steps == "" {
			steps = "any"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", steps, places(e), strings.Join(answers, " or "), e.Why)
	}
	return b.String()
}

func effectsTable() string {
	var b strings.Builder
	for i := range faults.Effects {
		b.WriteString(wrapped("- " + faults.Effects[i].Why))
	}
	return b.String()
}

// columns is how wide the page is.
const columns = 120

// wrapped is an item of a list in lines of the page's width.
func wrapped(item string) string {
	var b strings.Builder
	line := ""
	for _, word := range strings.Fields(item) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) > columns:
			b.WriteString(line + "\n")
			line = "  " + word
		default:
			line += " " + word
		}
	}
	return b.String() + line + "\n"
}

// places are the functions that an exception is for.
func places(e *faults.Exception) string {
	return strings.Trim(code(e.In, ", ")+", "+code(e.Either, " or "), ", ")
}

func code(names []string, between string) string {
	if len(names) == 0 {
		return ""
	}
	return "`" + strings.Join(names, "`"+between+"`") + "`"
}
