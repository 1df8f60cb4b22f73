package demo

import (
	"os"
	"testing"
)

func TestX(t *testing.T) {
	f, _ := os.Create("/tmp/demo.txt")
	if err := Text(f, false); err != nil {
		t.Fatal(err)
	}
	f2, _ := os.Create("/tmp/brief.txt")
	Text(f2, true)
	f3, _ := os.Create("/tmp/demo.jsonl")
	JSON(f3)
}
