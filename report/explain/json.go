package explain

import (
	"encoding/json"
	"io"
)

// JSON writes a case as one line of JSON: a [Case].
func JSON(w io.Writer, c *Case) error { return json.NewEncoder(w).Encode(c) }
