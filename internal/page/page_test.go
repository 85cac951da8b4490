package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

func file(t testing.TB, p *uistate.State) string {
	t.Helper()
	var out bytes.Buffer
	if err := File(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// between returns what stands between two texts, each of which is there once.
func between(t testing.TB, text, from, to string) string {
	t.Helper()
	if n := strings.Count(text, from); n != 1 {
		t.Fatalf("%d times %q", n, from)
	}
	_, rest, _ := strings.Cut(text, from)
	inside, _, ok := strings.Cut(rest, to)
	if !ok {
		t.Fatalf("no %q behind %q", to, from)
	}
	return inside
}

// unpacked returns what is packed in the element with an id.
func unpacked(t testing.TB, document, id string) []byte {
	t.Helper()
	out, err := unpack([]byte(document), id)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// codeOf returns the code and the styles of a file.
func codeOf(t testing.TB, document string) (code, style []byte) {
	t.Helper()
	code, style, found := bytes.Cut(unpacked(t, document, "code"), []byte{0})
	if !found {
		t.Fatal("no styles behind the code")
	}
	return code, style
}

// TestPack writes bytes and reads them again, whatever they are and however many.
func TestPack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		for _, fill := range []func() byte{func() byte { return 0 }, func() byte { return 255 }, func() byte { return byte(random.Uint32()) }} {
			b := make([]byte, n)
			for i := range b {
				b[i] = fill()
			}
			text := encode(b)
			if got, err := decode(text); err != nil || !bytes.Equal(got, b) {
				t.Fatalf("%x came back as %x, %v", b, got, err)
			}
			if most := (8*n+blockBits-1)/blockBits*blockSize + 3; len(text) > most {
				t.Fatalf("%d bytes are %d, not %d at the most", n, len(text), most)
			}
		}
	}
	for _, bad := range []string{"ab<", "", "z", "a b"} {
		if _, err := decode(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if _, err := Unpack([]byte("<html>")); err == nil {
		t.Error("what is no file was read")
	}
}

// hostile are texts that would be more than text somewhere.
var hostile = []string{
	`</script><script>alert(1)</script>`, `</title><script>alert(1)</script>`, `<!--`, `-->`, `<!--<script>`, `]]>`, `&quot;`, `&lt;script&gt;`, `"><img src=x onerror=alert(1)>`, `' onload='alert(1)`,
	"\u2028\u2029", "\x00\x1b[31m\u009b31m\u202e\u2066\ufeff\U000e0001", "\xff\xfe\xed\xa0\x80", `javascript:alert(1)`, `${alert(1)}`, "%s%d%!", "</style>", "\r\n\r\n",
}

// fill sets every text of a value, and every key of a map, to text; lists and maps have one entry.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[json.Number]() {
			text = "1"
		}
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field, text)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text)
		fill(value, text)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	}
}

func filled(text string) *uistate.State {
	var p uistate.State
	fill(reflect.ValueOf(&p).Elem(), text)
	return &p
}

// skeleton is the document without its title, and what is packed.
func skeleton(t testing.TB, document string) (title, rest string) {
	t.Helper()
	for _, id := range []string{"picture", "code"} {
		packed := between(t, document, `<script type="text/plain" id="`+id+`">`, `</script>`)
		if !regexp.MustCompile(`^[^<\s]+$`).MatchString(packed) {
			t.Fatalf("%s has what is no symbol: %q", id, packed[:min(len(packed), 100)])
		}
		document = strings.Replace(document, packed, "", 1)
	}
	title = between(t, document, "<title>", "</title>")
	return title, strings.Replace(document, "<title>"+title+"</title>", "<title></title>", 1)
}

// checkFile proves that nothing of a UIState is markup of its file: but for the title and what is packed,
// the file is the same for all, and the title has none of what ends it.
func checkFile(t testing.TB, same *parts, want string, p *uistate.State) {
	t.Helper()
	var out bytes.Buffer
	if err := same.write(&out, p); err != nil {
		t.Fatal(err)
	}
	document := out.String()
	title, got := skeleton(t, document)
	if got != want {
		t.Errorf("another document for %q", p.Title)
	}
	unseen := func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
	}
	if strings.ContainsAny(title, "<>\"'") || strings.ContainsFunc(title, unseen) || !utf8.ValidString(title) || regexp.MustCompile(`&([^a#gl]|$)`).MatchString(title) {
		t.Errorf("title %q", title)
	}
	shown := *p
	shown.Mode = "file"
	data, err := json.Marshal(&shown)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(unpacked(t, document, "picture"), data) {
		t.Error("another picture in the file")
	}
}

// empty is what all files have, and the rest of a file of nothing.
func empty(t testing.TB) (same *parts, rest string) {
	t.Helper()
	same, err := build("file-small.js")
	if err != nil {
		t.Fatal(err)
	}
	_, rest = skeleton(t, file(t, &uistate.State{}))
	return same, rest
}

func TestHostileTexts(t *testing.T) {
	same, want := empty(t)
	for _, text := range hostile {
		checkFile(t, same, want, filled(text))
	}
}

func FuzzFile(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	same, want := empty(f)
	f.Fuzz(func(t *testing.T, text string) { checkFile(t, same, want, filled(text)) })
}

func TestFile(t *testing.T) {
	p := filled("shop")
	document := file(t, p)
	if again := file(t, p); again != document {
		t.Error("other bytes of the same picture")
	}
	if p.Mode != "shop" {
		t.Error("File changed the picture")
	}
	var back uistate.State
	if err := json.Unmarshal(unpacked(t, document, "picture"), &back); err != nil || back.Mode != "file" || back.Nodes[0].Name != "shop" {
		t.Errorf("%v: %+v", err, back)
	}
	code, style := codeOf(t, document)
	for name, got := range map[string][]byte{"file-small.js": code, "file-style.css": style} {
		want, err := Asset(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("another %s in the file", name)
		}
		if bytes.IndexByte(want, 0) >= 0 {
			t.Errorf("%s has a NUL in it", name)
		}
	}
}

// TestPolicyOfFile has no more in the policy than the hashes of what is there: what runs, what is
// packed, and the styles.
func TestPolicyOfFile(t *testing.T) {
	document := file(t, filled("shop"))
	policy := between(t, document, `<meta http-equiv="Content-Security-Policy" content="`, `">`)
	sum := func(text []byte) string {
		h := sha256.Sum256(text)
		return "'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'"
	}
	code, style := codeOf(t, document)
	want := fmt.Sprintf("default-src 'none'; script-src %s %s; style-src %s; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types file",
		sum([]byte(between(t, document, "<script>", "</script>"))), sum(code), sum(style))
	if policy != want {
		t.Errorf("policy\n%s, not\n%s", policy, want)
	}
	if strings.Index(document, "Content-Security-Policy") > strings.Index(document, "<title") {
		t.Error("something stands before the policy")
	}
}

// TestNothingInline holds both documents to what their policies allow.
func TestNothingInline(t *testing.T) {
	_, skeleton := skeleton(t, file(t, &uistate.State{}))
	shell := string(Shell())
	for name, document := range map[string]string{"shell": shell, "file": skeleton} {
		if found := regexp.MustCompile(`(?i)<[^>]*\s(style|on\w+)\s*=`).FindString(document); found != "" {
			t.Errorf("%s: %s", name, found)
		}
		for _, must := range []string{"<!doctype html>", `<html lang="en">`, `<meta charset="utf-8">`, `name="viewport"`, "<title>", `<div id="page"></div>`, "<noscript>"} {
			if strings.Count(document, must) != 1 {
				t.Errorf("%s: %d times %s", name, strings.Count(document, must), must)
			}
		}
	}
	if regexp.MustCompile(`<(script|style)>|<script[^>]*>[^<]`).MatchString(shell) {
		t.Error("the shell has something inline")
	}
	if outside := regexp.MustCompile(`(src|href)="([^"]*)"`).FindAllStringSubmatch(shell+skeleton, -1); len(outside) != 3 {
		t.Errorf("%q", outside)
	} else {
		for _, o := range outside {
			if o[2] != "/app.js" && o[2] != "/page.css" && !strings.HasPrefix(o[2], "data:image/svg+xml,") {
				t.Errorf("it asks for %s", o[2])
			}
		}
	}
}

// TestAssetsFit holds the built assets to what a document can hold as it is.
func TestAssetsFit(t *testing.T) {
	for name, ends := range map[string]string{"page.css": "(?i)</style|@import|url\\(|\r", "file.js": "\r", "app.js": "\r"} {
		text, err := Asset(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(ends).Find(text); found != nil {
			t.Errorf("%s has %q", name, found)
		}
	}
	if strings.Contains(loader, "</") || strings.Contains(loader, "<!") {
		t.Error("the loader ends itself")
	}
	if _, err := Asset("../page.go"); !errors.Is(err, os.ErrNotExist) && err == nil {
		t.Error("what is no asset is one")
	}
}

// TestScript has all of the code where the file has something large, and only there.
func TestScript(t *testing.T) {
	many, few := make([]uistate.Stack, fewStacks+1), make([]uistate.Stack, fewStacks)
	large := []uistate.Stack{{Tree: make([]uistate.Position, largeStack+1)}}
	if got := script(&uistate.State{Impact: "what breaks"}); got != "file.js" {
		t.Errorf("an impact has %s", got)
	}
	for want, stacks := range map[string][][]uistate.Stack{"file.js": {many, large}, "file-small.js": {few, nil}} {
		for _, s := range stacks {
			if got := script(&uistate.State{Stacks: s}); got != want {
				t.Errorf("%d stacks have %s, not %s", len(s), got, want)
			}
		}
	}
}

// TestFileIsSmall has 60 objects as the example has them: each with labels, edges with reasons, and
// a message.
func TestFileIsSmall(t *testing.T) {
	p := &uistate.State{Title: "shop", Kinds: []uistate.Kind{{Kind: "Pod"}, {Kind: "Deployment", Group: "apps"}}, Namespaces: []string{"", "shop"}}
	stack := uistate.Stack{Name: "shop", Roots: []int{0}}
	for i := range 60 {
		uid := sha256.Sum256([]byte{byte(i)})
		name := fmt.Sprintf("shop-%x", uid[:5])
		n := &uistate.Node{Kind: i % 2, Namespace: 1, Name: name, Health: 1, Reason: "Running", Message: fmt.Sprintf("it runs on node-%x", uid[5:8]), Created: 1_790_000_000 + int64(uid[9])<<8, Labels: []int{i}}
		p.Labels = append(p.Labels, fmt.Sprintf("pod-template-hash=%x", uid[10:15]))
		for k := range 3 {
			n.Edges = append(n.Edges, uistate.Edge{To: (i + k) % 60, Relation: 1 + k, Via: "spec", Why: fmt.Sprintf("spec.template.spec.volumes[%d].persistentVolumeClaim.claimName = \"%x\"", k, uid[16+k:20+k]), Rule: k})
		}
		cost := int64(uid[30]) * 10
		p.Nodes = append(p.Nodes, n)
		stack.Tree = append(stack.Tree, uistate.Position{Node: i, Depth: i % 4, How: "owned", Cost: &cost, Own: &cost})
	}
	p.Stacks = []uistate.Stack{stack}
	size := len(file(t, p))
	t.Logf("%d bytes", size)
	if size > 78_000 {
		t.Errorf("the file has %d bytes", size)
	}
}

// broken takes no more than some bytes.
type broken struct{ left int }

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(p), nil
}

func TestFileSaysWhatFails(t *testing.T) {
	if err := File(&broken{10}, &uistate.State{}); err == nil {
		t.Error("a full disk is told to nobody")
	}
}
