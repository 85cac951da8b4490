package web

import (
	"net/http"
	"strings"
	"testing"
)

// What is nested deep is refused before anybody reads it.
func TestDeepBodies(t *testing.T) {
	v := start(t, everything())
	v.open()
	nested := func(n int) string {
		return `{"manifest":` + strings.Repeat("[", n-1) + `"[[{\"["` + strings.Repeat("]", n-1) + "}"
	}
	if a := v.do(v.request("POST", "/api/system", nested(maxBodyDepth))); a.status != http.StatusOK {
		t.Errorf("as deep as may be: %d %s", a.status, a.body)
	}
	if a := v.do(v.request("POST", "/api/system", nested(maxBodyDepth+1))); a.status != http.StatusBadRequest || !strings.Contains(a.body, "nested more than 200 deep") {
		t.Errorf("deeper: %d %.200s", a.status, a.body)
	}
}
