package source

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"
)

const one = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func inUTF16(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func TestPlacesOfErrors(t *testing.T) {
	list := "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n"
	for name, c := range map[string]struct{ text, want string }{
		"YAML in the 2nd document":     {one + "---\n# c\n\na: b: c\n", "x:8: document 2: not YAML: mapping values are not allowed"},
		"unexpected indent":            {"# c\n---\na:\n  b: 1\n c: 2\n", "x:5: document 1: not YAML: did not find expected key"},
		"field twice":                  {one + "---\na: 1\nb: 2\na: 3\n", `x:8: document 2: not YAML: key "a" already set`},
		"CRLF":                         {"a: 1\r\n---\r\nb: b: c\r\n", "x:3: document 2: not YAML"},
		"open quote":                   {one + "---\nkind: \"Po", "x:6: document 2: incomplete"},
		"open bracket":                 {"a: 1\nb: {c: 1\n", "x:2: document 1: incomplete"},
		"no YAML at all":               {"\x89PNG\x00\x01", "x:1: document 1: not YAML: "},
		"alias bomb":                   {bomb(), "x:9: document 1: not YAML: its aliases expand"},
		"alias within itself":          {"a: &a [*a]\n", "x:1: document 1: not YAML: the alias *a contains itself"},
		"a list":                       {"\n- a\n- b\n", "x:2: document 1: expected an object, got a list"},
		"text":                         {one + "---\nhello\n", "x:6: document 2: expected an object, got plain text"},
		"a number":                     {"17", "x:1: document 1: expected an object, got the value 17"},
		"JSON cut":                     {"{\"kind\": \"List\",\n\"items\": [\n{\"a\": 1},\n", "x:3: document 1: incomplete"},
		"JSON wrong":                   {"{\"a\": 1}\n{\"a\":\n  oops}\n", "x:3: document 2: not JSON: invalid character"},
		"JSON no object":               {"{\"a\": 1}\n\n[1]\n", "x:3: document 2: expected an object, got a list"},
		"JSON no kind":                 {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n\n{\"a\":1}", "x:3: document 2: no apiVersion and kind"},
		"JSON item":                    {"{\n\"apiVersion\":\"v1\",\"kind\":\"List\",\n\"items\":[\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}},\n\n  {\"apiVersion\":\"v1\",\"kind\":\"Pod\"}]}", "x:6: document 1, item 2: Pod without metadata.name"},
		"List cut before its kind":     {"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n", "x:1: document 1: no apiVersion and kind: not a Kubernetes object, or incomplete"},
		"List without items":           {"---\napiVersion: v1\nkind: List\n", "x:2: document 1: a List without items"},
		"item no object":               {list + "- text\n", "x:7: document 1, item 2: not an object"},
		"no name":                      {list + "- {apiVersion: v1, kind: Pod}\n", "x:7: document 1, item 2: Pod without metadata.name"},
		"after a comment":              {"# a\n# b\n" + list + "- {apiVersion: v1, kind: Pod}\n", "x:9: document 1, item 2: Pod without metadata.name"},
		"nested":                       {list + "- apiVersion: v1\n  kind: List\n  items:\n  - {apiVersion: v1, kind: Pod}\n", "x:10: document 1, item 2, item 1: Pod without"},
		"JSON nested":                  {`{"apiVersion":"v1","kind":"List","items":[` + "\n" + `{"apiVersion":"v1","kind":"List","items":[` + "\n" + `{"apiVersion":"v1","kind":"Pod"}]}]}`, "x:3: document 1, item 1, item 1: Pod without"},
		"unknown kind":                 {one + "---\napiVersion: apps/v1\nkind: Deploymint\nmetadata: {name: a}\n", `x:6: document 2: apps/v1: unknown kind "Deploymint" (did you mean deployment`},
		"wrong group":                  {one + "---\napiVersion: v1\nkind: Deployment\nmetadata: {name: a}\n", "x:6: document 2: v1 has no kind Deployment: it is in apps/v1"},
		"version of three parts":       {"apiVersion: a/b/c\nkind: X\nmetadata: {name: a}\n", "x:1: document 1: no apiVersion and kind"},
		"kind that is a number":        {"apiVersion: v1\nkind: 7\nmetadata: {name: a}\n", "x:1: document 1: no apiVersion and kind"},
		"twice":                        {list + "---\n" + one, "x:8: document 2: Pod/default/a occurs a second time (first at x:4: document 1, item 1)"},
		"twice, as the same namespace": {one + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: default}\n", "x:6: document 2: Pod/default/a occurs a second time"},
		"nothing":                      {"# only\n---\n\n...\n", "x: it has no objects"},
		"empty":                        {"", "x: it has no objects"},
		"gzip cut":                     {zipped(one)[:20], "x: incomplete or damaged"},
		"gzip head cut":                {zipped(one)[:5], "x: incomplete or damaged"},
		"gzip damaged":                 {zipped(one)[:len(zipped(one))-8] + "12345678", "x: incomplete or damaged"},
		"objects missing":              {"{apiVersion: sysop.dev/v1alpha1, kind: Snapshot, objects: 2}\n---\n" + one + "...\n", "x: it has 1 objects, but its head says 2: it is incomplete, or was edited"},
		"end missing":                  {"{apiVersion: sysop.dev/v1alpha1, kind: Snapshot, objects: 1}\n---\n" + one, "x:3: document 2: incomplete: the snapshot ends without its end mark"},
		"newer head":                   {"{apiVersion: sysop.dev/v2, kind: Snapshot}\n...\n", "x:1: document 1: a snapshot of version sysop.dev/v2"},
		"head of another shape":        {"{apiVersion: sysop.dev/v1alpha1, kind: Snapshot, objects: many}\n...\n", "x:1: document 1: head of a snapshot: "},
	} {
		t.Run(name, func(t *testing.T) {
			docs, err := Parse("x", strings.NewReader(c.text))
			if err == nil {
				_, err = SnapshotOptions{}.New("x", docs)
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v\nwant  %s", err, c.want)
			}
		})
	}
}

// bomb is a long text, by alias and by alias of aliases.
func bomb() string {
	b := "a0: &a0 " + strings.Repeat("x", 1000) + "\n"
	for i := 1; i < 9; i++ {
		b += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9))
	}
	return b
}

func TestParses(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		names string
	}{
		"byte order mark":          {"\xef\xbb\xbf" + one, "Pod/default/a"},
		"UTF-16":                   {inUTF16(one, binary.LittleEndian), "Pod/default/a"},
		"UTF-16 of the other sort": {inUTF16(one, binary.BigEndian), "Pod/default/a"},
		"CRLF":                     {strings.ReplaceAll("---\n"+one+"---\n", "\n", "\r\n"), "Pod/default/a"},
		"gzip":                     {zipped(one), "Pod/default/a"},
		"comments and nulls":       {"# a\n---\n# b\n---\nnull\n---\n~\n---\n" + one + "---\n", "Pod/default/a"},
		"directive":                {"%YAML 1.1\n---\n" + one, "Pod/default/a"},
		"end mark and more":        {one + "...\n" + strings.Replace(one, "name: a", "name: b", 1), "Pod/default/a Pod/default/b"},
		"on the line of the mark":  {"--- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n--- # c\n" + strings.Replace(one, "name: a", "name: b", 1), "Pod/default/a Pod/default/b"},
		"mark in a block":          {"apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\nspec: |\n  ---\n  x\n  ...\n", "A.example.com/a"},
		"JSON between marks":       {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n---\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}\n", "Pod/default/a Pod/default/b"},
		"JSON one after the other": {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}", "Pod/default/a Pod/default/b"},
		"aliases":                  {"apiVersion: v1\nkind: Pod\nmetadata: {name: &n a, labels: {app: *n}}\n", "Pod/default/a"},
		"merge":                    {"apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: &l {a: b}, annotations: {<<: *l, a: c}}\n", "Pod/default/a"},
		"a star that is none":      {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {schedule: \"*/5 *x * * *\"}\n", "CronJob.batch/default/a"},
		"control and bidi":         {"apiVersion: v1\nkind: Pod\nmetadata: {name: \"a\\e[31m\\u202Eb\\x7f\"}\n", "Pod/default/a\x1b[31m\u202eb\x7f"},
		"empty list":               {"apiVersion: v1\nkind: PodList\nitems: []\n---\napiVersion: v1\nkind: List\nitems: null\n---\n" + one, "Pod/default/a"},
		"one megabyte":             {one + "  annotations: {a: " + strings.Repeat("x", 1<<20) + "}\n", "Pod/default/a"},
		"ten megabytes":            {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"a":"` + strings.Repeat("x", 10<<20) + `"}}}`, "Pod/default/a"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := read(t, snapshotOf(t, c.text)); got.names() != c.names {
				t.Errorf("read %q, want %q", got.names(), c.names)
			}
		})
	}
}

// TestKubernetesYAML reads scalars as kubectl apply does.
func TestKubernetesYAML(t *testing.T) {
	docs := parsed(t, "a: yes\nb: 0644\nc: 9223372036854775807\nd: 1.5\ne: \"yes\"\nf: 1e3\ng: 012\n")
	want := map[string]any{"a": true, "b": int64(420), "c": int64(9223372036854775807), "d": 1.5, "e": "yes", "f": int64(1000), "g": int64(10)}
	for key, value := range want {
		if got := docs[0].Object[key]; got != value {
			t.Errorf("%s: %T %v, want %T %v", key, got, got, value, value)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.yaml": one, "sub/b.json.gz": zipped(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`), "notes.txt": "no: [yaml"} {
		path := filepath.Join(dir, name)
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	demo := fstest.MapFS{"d.yml": {Data: []byte(one)}}
	for name, want := range map[string]string{dir: "Node/n Pod/default/a", filepath.Join(dir, "a.yaml"): "Pod/default/a", "-": "Pod/default/a", "demo": "Pod/default/a"} {
		s, err := Open(name, strings.NewReader(one), demo)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, s); got.names() != want || s.Name() != name {
			t.Errorf("%s: read %s, want %s", name, got.names(), want)
		}
	}
	empty := t.TempDir()
	if _, err := Open(empty, nil, nil); err == nil || !strings.Contains(err.Error(), "no .yaml") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(empty, "c.yaml"), []byte("# c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(empty, nil, nil); err == nil || !strings.Contains(err.Error(), "it has no objects") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(empty, "d.yaml"), []byte(one+"---\na: b: c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(empty, nil, nil); err == nil || !strings.Contains(err.Error(), "d.yaml:6: document 2: not YAML") {
		t.Error(err)
	}
	for _, name := range []string{filepath.Join(dir, "none"), "demo", "-"} {
		if _, err := Open(name, nil, nil); err == nil {
			t.Errorf("%s opens", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{one, mixed, zipped(one), "--- {a: b}\n...\n%YAML 1.1\n---\n", `{"kind":"List","items":[{}]}`, bomb(), "a: &a [*a]", "\xff\xfea\x00", "a: b: c"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		docs, err := Parse("x", bytes.NewReader(content))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x") && !strings.HasPrefix(err.Error(), "read x") {
				t.Errorf("no place: %v", err)
			}
			return
		}
		for _, d := range docs {
			if d.Object == nil || d.At.Line < 1 || d.At.Document < 1 {
				t.Errorf("document %+v", d)
			}
		}
		s, err := SnapshotOptions{}.New("x", docs)
		if err == nil {
			_ = s.Read(t.Context(), Query{All: true}, newRecorder())
		}
	})
}
