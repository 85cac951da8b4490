package catalog_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
)

// TestWriteAll: every entry that there is, and one with all that there can be, is written as
// it is read again.
func TestWriteAll(t *testing.T) {
	whole, problems := catalog.Parse("widget", []byte(widget(t)))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, e := range append(catalog.All(), whole) {
		rewrite(t, e)
	}
}

// rewrite writes an entry and reads it again.
func rewrite(t testing.TB, e catalog.Entry) []byte {
	t.Helper()
	text, err := e.YAML()
	if err != nil {
		t.Fatalf("%s: %v", e.Name, err)
	}
	again, problems := catalog.Parse(e.Name, text)
	for _, p := range problems {
		t.Errorf("%s, written: %v\n%s", e.Name, p, text)
	}
	if a, b := placeless(e), placeless(again); !reflect.DeepEqual(a, b) {
		t.Errorf("%s is another one when it is read again:\n%#v\n%#v\n%s", e.Name, a, b, text)
	}
	if twice, err := again.YAML(); err != nil || !bytes.Equal(text, twice) {
		t.Errorf("%s is written in two ways: %v\n%s\n%s", e.Name, err, text, twice)
	}
	return text
}

// placeless is an entry without the places of its relations.
func placeless(e catalog.Entry) catalog.Entry {
	e.Relations = append(e.Relations[:0:0], e.Relations...)
	for i := range e.Relations {
		e.Relations[i].Line, e.Relations[i].Column = 0, 0
	}
	return e
}
