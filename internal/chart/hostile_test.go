package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	release "helm.sh/helm/v4/pkg/release/v1"
)

const meta = "apiVersion: v2\nname: evil\nversion: 1.0.0\n"

// tgz packs entries as they are.
func tgz(t *testing.T, entries ...*tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, h := range entries {
		text := h.PAXRecords["text"]
		h.PAXRecords = nil
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		h.Size = int64(len(text))
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	z.Close()
	return out.Bytes()
}

func entry(name, text string) *tar.Header {
	return &tar.Header{Name: name, PAXRecords: map[string]string{"text": text}}
}

func chartOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	all := []*archive.BufferedFile{{Name: "Chart.yaml", Data: []byte(meta)}}
	for name, text := range files {
		if name == "Chart.yaml" {
			all[0].Data = []byte(text)
			continue
		}
		all = append(all, &archive.BufferedFile{Name: name, Data: []byte(text)})
	}
	data, err := pack("evil", all)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func aliasBomb() string {
	b := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		b += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	return b
}

// growing are the files of subcharts whose values add a megabyte each by their aliases.
func growing(charts int) map[string]string {
	files := map[string]string{}
	for i := range charts {
		files[fmt.Sprintf("charts/c%d/Chart.yaml", i)] = fmt.Sprintf("apiVersion: v2\nname: c%d\nversion: 1.0.0\n", i)
		files[fmt.Sprintf("charts/c%d/values.yaml", i)] = "a: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "]\n"
	}
	return files
}

func TestLoadRefusals(t *testing.T) {
	top := entry("evil/Chart.yaml", meta)
	fresh := func() *tar.Header { h := *top; h.PAXRecords = map[string]string{"text": meta}; return &h }
	nested := chartOf(t, nil)
	for range subchartDepth + 1 {
		nested = chartOf(t, map[string]string{"charts/evil.tgz": string(nested)})
	}
	packed := func(name string, size int) []byte {
		return tgz(t, entry(name+"/Chart.yaml", meta), entry(name+"/z", strings.Repeat("a", size)))
	}
	small := Limits{Bytes: 4000, Unpacked: 100_000, File: 2000, Files: 10}
	for _, tt := range []struct {
		name   string
		data   []byte
		limits Limits
		want   string
	}{
		{"no archive", []byte("apiVersion: v2\n"), Limits{}, "not a chart archive (.tgz)"},
		{"empty", nil, Limits{}, "not a chart archive"},
		{"nothing in it", tgz(t), Limits{}, "has no files"},
		{"cut off", chartOf(t, nil)[:60], Limits{}, "read the archive"},
		{"too many bytes", bytes.Repeat([]byte{0}, 5000), small, "5000 bytes: a chart may have at most 4000"},
		{"gzip bomb", tgz(t, fresh(), entry("evil/zeros", strings.Repeat("\x00", 1_000_000))), small, `more than 100000 bytes unpacked (at "evil/zeros")`},
		{"bomb in a subchart", chartOf(t, map[string]string{"charts/x.tgz": string(tgz(t, entry("x/Chart.yaml", meta), entry("x/z", strings.Repeat("a", 1_000_000))))}), small, "evil.tgz/charts/x.tgz"},
		{"bomb in a folder of a subchart", chartOf(t, map[string]string{"charts/s/Chart.yaml": meta, "charts/s/charts/x.tgz": string(packed("x", 300_000))}), small, "evil.tgz/charts/s/charts/x.tgz"},
		{"bombs side by side", chartOf(t, map[string]string{"charts/a/charts/x.tgz": string(packed("x", 60_000)), "charts/b/charts/y.tgz": string(packed("y", 60_000))}), small, "charts/b/charts/y.tgz"},
		{"bomb below a packed one", chartOf(t, map[string]string{"charts/a.tgz": string(tgz(t, entry("a/Chart.yaml", meta), entry("a/charts/b/charts/x.tgz", string(packed("x", 300_000)))))}), small, "charts/a.tgz/charts/b/charts/x.tgz"},
		{"files at every depth", chartOf(t, map[string]string{"charts/a/charts/x.tgz": string(tgz(t, entry("x/1", ""), entry("x/2", ""), entry("x/3", ""), entry("x/4", ""))), "charts/b/charts/y.tgz": string(tgz(t, entry("y/1", ""), entry("y/2", ""), entry("y/3", ""), entry("y/4", "")))}), small, "more than 10 files"},
		{"folders in folders", chartOf(t, map[string]string{strings.Repeat("charts/a/", 9) + "Chart.yaml": meta}), Limits{}, "subcharts are nested more than 8 deep"},
		{"archives in folders", chartOf(t, map[string]string{"charts/a/charts/b/charts/c/charts/d.tgz": string(tgz(t, entry("d/"+strings.Repeat("charts/a/", 5)+"Chart.yaml", meta)))}), Limits{}, "subcharts are nested more than 8 deep"},
		{"aliases of text", chartOf(t, map[string]string{"values.yaml": "a: &a " + strings.Repeat("x", 20_000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "]\n"}), Limits{}, "values.yaml: line 2: its aliases expand to far more"},
		{"aliases of many subcharts", chartOf(t, growing(20)), Limits{}, "its aliases expand to far more"},
		{"too many nodes", chartOf(t, map[string]string{"values.yaml": "a: [" + strings.Repeat("a,", 1_000_001) + "]"}), Limits{}, "nodes (keys, values, items)"},
		{"too many files", func() []byte {
			files := map[string]string{}
			for i := range 20 {
				files[fmt.Sprint(i)] = ""
			}
			return chartOf(t, files)
		}(), small, "more than 10 files"},
		{"dots", tgz(t, fresh(), entry("evil/../../etc/passwd", "x")), Limits{}, `"evil/../../etc/passwd" leads out of the chart`},
		{"dots with backslashes", tgz(t, fresh(), entry(`evil\..\x`, "x")), Limits{}, "leads out"},
		{"absolute", tgz(t, fresh(), entry("/etc/passwd", "x")), Limits{}, "is absolute"},
		{"drive", tgz(t, fresh(), entry(`c:\x`, "x")), Limits{}, "names a drive"},
		{"symbolic link", tgz(t, fresh(), &tar.Header{Name: "evil/l", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), Limits{}, `"evil/l" is a link`},
		{"hard link", tgz(t, fresh(), &tar.Header{Name: "evil/l", Typeflag: tar.TypeLink, Linkname: "evil/x"}), Limits{}, "is a link"},
		{"device", tgz(t, fresh(), &tar.Header{Name: "evil/d", Typeflag: tar.TypeChar}), Limits{}, "neither a file nor a directory"},
		{"twice", tgz(t, fresh(), fresh()), Limits{}, "occurs twice"},
		{"outside", tgz(t, entry("Chart.yaml", meta)), Limits{}, "outside of the chart's directory"},
		{"two folders", tgz(t, fresh(), entry("other/x", "")), Limits{}, `directories "evil" and "other"`},
		{"charts in charts", nested, Limits{}, "subcharts are nested more than 8 deep"},
		{"no Chart.yaml", tgz(t, entry("evil/values.yaml", "a: 1")), Limits{}, "no Chart.yaml"},
		{"Chart.yaml a list", chartOf(t, map[string]string{"Chart.yaml": "- a\n"}), Limits{}, "Chart.yaml: line 1: expected a mapping, got a list"},
		{"Chart.yaml broken", chartOf(t, map[string]string{"Chart.yaml": "a: [\n"}), Limits{}, "evil.tgz, Chart.yaml: "},
		{"Chart.yaml a bomb", chartOf(t, map[string]string{"Chart.yaml": aliasBomb()}), Limits{}, "Chart.yaml: line"},
		{"Chart.yaml too large", chartOf(t, map[string]string{"Chart.yaml": strings.Repeat("#", 3000)}), small, "Chart.yaml: it has 3000 bytes"},
		{"values a bomb", chartOf(t, map[string]string{"values.yaml": aliasBomb()}), Limits{}, "values.yaml: line 10: its aliases expand to far more"},
		{"values that hold themselves", chartOf(t, map[string]string{"values.yaml": "a: &a\n  b: *a\n"}), Limits{}, "values.yaml: line 2: the alias *a contains itself"},
		{"values too deep", chartOf(t, map[string]string{"values.yaml": "a: " + strings.Repeat("[", 300) + strings.Repeat("]", 300)}), Limits{}, "nested more than"},
		{"values a picture", chartOf(t, map[string]string{"values.yaml": "\x89PNG\r\n\x1a\n"}), Limits{}, "values.yaml"},
		{"subchart's values a bomb", chartOf(t, map[string]string{"charts/s/Chart.yaml": meta, "charts/s/values.yaml": aliasBomb()}), Limits{}, "charts/s/values.yaml: line 10"},
		{"schema no JSON", chartOf(t, map[string]string{"values.schema.json": "{"}), Limits{}, "values.schema.json: it is not JSON"},
		{"subchart no archive", chartOf(t, map[string]string{"charts/s.tgz": "text"}), Limits{}, "charts/s.tgz is not a chart archive"},
		{"library", chartOf(t, map[string]string{"Chart.yaml": meta + "type: library\n"}), Limits{}, "is a library"},
		{"apiVersion", chartOf(t, map[string]string{"Chart.yaml": "apiVersion: v9\nname: evil\nversion: 1.0.0\n"}), Limits{}, "v9"},
		{"name", chartOf(t, map[string]string{"Chart.yaml": "apiVersion: v2\nname: ../evil\nversion: 1.0.0\n"}), Limits{}, "evil"},
		{"lacking subchart", chartOf(t, map[string]string{"Chart.yaml": meta + "dependencies: [{name: gone, version: 1.0.0, repository: ''}]\n"}), Limits{}, "not in charts/: gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(tt.data, "evil.tgz", tt.limits)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "evil.tgz") {
				t.Errorf("got %v and %v, want %q", c, err, tt.want)
			}
		})
	}
}

func TestRenderRefusals(t *testing.T) {
	const cm = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	const at = "evil/templates/t.yaml"
	longAliases := "a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a, ", 400) + "]\n"
	bombs := fmt.Sprintf("bomb: %q\nbombs: %q\n", longAliases, "- "+strings.ReplaceAll(longAliases, "\nb", "\n  b"))
	for _, tt := range []struct{ name, text, want string }{
		{"not YAML", "a: [\n", at + ", document 1: "},
		{"second document", cm + "---\nkind: [\n", at + ", document 2: "},
		{"text", "hello there\n", `document 1: line 1: expected an object (a mapping with apiVersion, kind and metadata), got the text "hello there"`},
		{"no kind", "apiVersion: v1\nmetadata: {name: x}\n", at + ", document 1: it has no kind"},
		{"no apiVersion", "kind: X\nmetadata: {name: x}\n", "it has no apiVersion"},
		{"no name", cm + "---\napiVersion: v1\nkind: Secret\nmetadata: {}\n", "document 2: the Secret has no metadata.name"},
		{"no metadata", "apiVersion: v1\nkind: Secret\n", "the Secret has no metadata"},
		{"number as a name", "apiVersion: v1\nkind: Secret\nmetadata: {name: 1}\n", "no metadata.name"},
		{"number as a label", "apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {x: 1}}\n", "the value of x is not a string: put it in quotes"},
		{"number as a namespace", "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: 1}\n", "metadata.namespace"},
		{"labels a list", "apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: [x]}\n", "not a mapping"},
		{"key twice", cm + "kind: Secret\n", at + ", document 1: "},
		{"object twice", cm + "---\n" + cm, "ConfigMap/store/c occurs twice: in " + at + ", document 1, and in " + at + ", document 2"},
		{"aliases", cm + "data:\n" + strings.ReplaceAll("\n"+aliasBomb(), "\n", "\n  "), "its aliases expand to far more"},
		{"item no object", "apiVersion: v1\nkind: List\nitems: [a]\n", "items[0] of the List is not an object"},
		{"fail", `{{ fail "set the password" }}`, "set the password"},
		{"no function", `{{ env "HOME" }}`, `function "env" not defined`},
		{"no function either", `{{ expandenv "$HOME" }}`, `function "expandenv" not defined`},
		{"much at once", `{{ until 1000000000 }}`, "more than 1000000 numbers"},
		{"a long text", `{{ repeat 1000000000000 "x" }}`, "the limit of"},
		{"a deep indent", `{{ indent 1000000000000 "x" }}`, "the limit of"},
		{"a long chance", `{{ randAlphaNum 1000000000000 }}`, "the limit of"},
		{"a long join", `{{ join (repeat 1000000 "x") (until 100) }}`, "the limit of"},
		{"a join of long texts", `{{ $x := repeat 1000000 "x" }}{{ $l := list }}{{ range until 100 }}{{ $l = append $l $x }}{{ end }}{{ join "" $l }}`, "the limit of"},
		{"a long sequence", `{{ seq 1 100000000 }}`, "more than 1000000 numbers"},
		{"a long sequence back", `{{ seq 9223372036854775807 -1 -9223372036854775808 }}`, "more than 1000000 numbers"},
		{"a wide format", `{{ printf (repeat 70 "%999999d") }}`, "the limit of"},
		{"a wide format by arguments", `{{ printf (repeat 70 "%[1]*[1]d") 999999 }}`, "the limit of"},
		{"a format of long texts", `{{ printf (repeat 100 "%[1]s") (repeat 1000000 "x") }}`, "the limit of"},
		{"a long wrap", `{{ wrapWith 1 (repeat 100000 "x") (repeat 1000 "y") }}`, "the limit of"},
		{"many parts", `{{ len (splitList "" (repeat 2000000 "x")) }}`, "more than 1000000 items"},
		{"a map of many parts", `{{ len (split "x" (repeat 2000000 "x")) }}`, "more than 1000000 items"},
		{"many parts of any number", `{{ len (splitn "x" -1 (repeat 2000000 "x")) }}`, "more than 1000000 items"},
		{"many matches", `{{ len (regexFindAll "" (repeat 2000000 "x") -1) }}`, "more than 1000000 items"},
		{"many parts by regex", `{{ len (mustRegexSplit "x" (repeat 2000000 "x") -1) }}`, "more than 1000000 items"},
		{"replaced by much", `{{ regexReplaceAll "x" (repeat 1000 "x") (repeat 100000 "y") }}`, "the limit of"},
		{"replaced by itself", `{{ regexReplaceAll "x+" (repeat 1000000 "x") (repeat 100 "${0}") }}`, "the limit of"},
		{"replaced by much as it is", `{{ mustRegexReplaceAllLiteral "x" (repeat 1000 "x") (repeat 100000 "y") }}`, "the limit of"},
		{"YAML of aliases", `{{ fromYaml .Values.bomb | toJson | len }}`, "its aliases expand to far more"},
		{"a list of aliases", `{{ fromYamlArray .Values.bombs | toJson | len }}`, "its aliases expand to far more"},
		{"many replacements", `{{ replace "x" (repeat 1000000 "y") (repeat 1000000 "x") }}`, "the limit of"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(chartOf(t, map[string]string{"templates/t.yaml": tt.text, "values.yaml": bombs}), "evil.tgz", Limits{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = Render(t.Context(), c, options())
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "render evil") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestRenderBounds(t *testing.T) {
	cms := `{{ range until 50 }}{{ printf "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n" . }}{{ end }}`
	for _, tt := range []struct {
		name, text string
		bounds     Bounds
		want       string
	}{
		{"objects", cms, Bounds{Objects: 10}, "it has 50 objects: at most 10"},
		{"output", cms, Bounds{Output: 1000}, "more than 1000 bytes (at evil/templates/t.yaml)"},
		{"loop", `{{ range until 1000000 }}{{ range until 1000000 }}{{ end }}{{ end }}`, Bounds{Time: 400 * time.Millisecond}, "template evil/templates/t.yaml: rendering took longer than 400ms"},
		{"counting", `{{ range 1000000000000 }}{{ end }}`, Bounds{Time: 400 * time.Millisecond}, "took longer"},
		{"loop in tpl", `{{ tpl .Values.loop . }}`, Bounds{Time: 400 * time.Millisecond}, "evil/templates/t.yaml: rendering took longer"},
		{"doubling", `{{ define "d" }}{{ if gt . 0 }}{{ include "d" (sub . 1) }}{{ include "d" (sub . 1) }}{{ end }}{{ end }}{{ include "d" 200 }}`, Bounds{Time: 400 * time.Millisecond}, "took longer"},
		{"memory", `{{ $l := list }}{{ range until 1000000 }}{{ $l = append $l (repeat 100000 "x") }}{{ end }}`, Bounds{Memory: 64 << 20}, "template evil/templates/t.yaml: rendering took more than 64 MiB"},
		{"recursion", `{{ define "r" }}{{ include "r" . }}{{ end }}{{ include "r" . }}`, Bounds{}, "nested reference name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(chartOf(t, map[string]string{
				"templates/t.yaml": tt.text, "values.yaml": "loop: '{{ range until 1000000 }}{{ range until 1000000 }}{{ end }}{{ end }}'\n",
			}), "evil.tgz", Limits{})
			if err != nil {
				t.Fatal(err)
			}
			opts := options()
			opts.Bounds = tt.bounds
			if _, err := Render(t.Context(), c, opts); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Render(ctx, load(t, "plain"), options()); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was ended gives %v", err)
	}
}

// TestEndlessDepth has a process of its own: if the guard fails, Go ends the whole process.
func TestEndlessDepth(t *testing.T) {
	texts := map[string]string{
		"tpl":     `{{ tpl .Values.deep . }}`,
		"include": many(2000),
	}
	if name := os.Getenv("CHART_DEPTH"); name != "" {
		c, err := Load(chartOf(t, map[string]string{"templates/t.yaml": texts[name], "values.yaml": "deep: '{{ tpl .Values.deep . }}'\n"}), "evil.tgz", Limits{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Render(t.Context(), c, options())
		if err == nil || !strings.Contains(err.Error(), "template evil/templates/t.yaml: rendering ") {
			t.Fatalf("got %v", err)
		}
		return
	}
	for name := range texts {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEndlessDepth$", "-test.count=1")
			cmd.Env = append(os.Environ(), "CHART_DEPTH="+name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%.2000s", err, out)
			}
		})
	}
}

// many are named templates of which each includes the next, and the last the first.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{{ define "n%d" }}{{ include "n%d" . }}{{ end }}`, i, (i+1)%n)
	}
	return b.String() + `{{ include "n0" . }}`
}

func TestInstrument(t *testing.T) {
	for text, want := range map[string]string{
		`a {{ .x }} b`:                               `a {{ .x }} b`,
		`{{ range .x -}} a {{ end }}`:                `{{ range .x -}}{{sysopTick "" -}} a {{ end }}`,
		`{{- range .x }} a {{ end }}`:                `{{- range .x }}{{sysopTick ""}} a {{ end }}`,
		`{{ define "a}}" }}x{{ end }}`:               `{{ define "a}}" }}{{sysopTick ""}}x{{ end }}`,
		`{{ define "a" }} {{/* }} */}} {{- end }}`:   `{{ define "a" }} {{/* }} */}} {{- end }}`,
		`{{/* range {{ tpl */}}`:                     `{{/* range {{ tpl */}}`,
		"{{ tpl `}}` . }}":                           "{{ tpl (sysopText `}}`) . }}",
		`{{ tpl (tpl .a .) $ | quote }}`:             `{{ tpl (sysopText (tpl (sysopText .a) .)) $ | quote }}`,
		`{{ $x | tpl .Values.tpl }}`:                 `{{ $x | tpl (sysopText .Values.tpl) }}`,
		`{{ .tpl }}{{ "tpl x" }}{{ (tpl .a .b).c }}`: `{{ .tpl }}{{ "tpl x" }}{{ (tpl (sysopText .a) .b).c }}`,
		`{{ tpl ("a)").b . -}}`:                      `{{ tpl (sysopText ("a)").b) . -}}`,
		`{{ broken`:                                  `{{ broken`,
	} {
		if got := instrument(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestFuncsDoWhatHelmsDo renders the same text with the functions of Helm, and with ours.
func TestFuncsDoWhatHelmsDo(t *testing.T) {
	text := `apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  a: {{ until 3 | toJson | quote }}{{/* */}}
  b: {{ until -3 | toJson | quote }}
  c: {{ untilStep 3 9 2 | toJson | quote }}
  d: {{ untilStep 9 3 -4 | toJson | quote }}
  e: {{ untilStep 3 9 0 | toJson | quote }}
  f: {{ repeat 3 "ab" | quote }}
  g: {{ indent 3 "a\nb\n" | quote }}
  h: {{ nindent 2 "a\n\nb" | quote }}
  i: {{ "a-b-c" | replace "-" "+" | quote }}
  j: {{ replace "" "x" "ab" | quote }}
  k: {{ randAlpha 9 | regexMatch "^[A-Za-z]{9}$" | quote }}
  l: {{ randNumeric 9 | regexMatch "^[0-9]{9}$" | quote }}
  m: {{ randAlphaNum 0 | quote }}
  n: {{ randBytes 4 | b64dec | len | quote }}
  o: {{ randAscii 7 | len | quote }}
  p: {{ untilStep 3 3 1 | toJson | quote }}
  q: {{ join "-" (list 1 nil "b" 2.5) | quote }}
  r: {{ join "," "one" | quote }}
  s: {{ printf "%-5s|%3d|%q|%v|%*d" "a" 7 "b" (list 1) 4 2 | quote }}
  t: {{ list (seq 3) (seq 2 4) (seq 9 -3 1) (seq 1 0 3) (seq) | toJson | quote }}
  u: {{ wrapWith 3 "\n+" "abcdef gh" | quote }}
  v: {{ split "." "a.b.c" | toJson | quote }}
  w: {{ list (splitList "" "abc") (splitn "." 2 "a.b.c") | toJson | quote }}
  x: {{ list (regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W") (regexReplaceAllLiteral "a" "ba" "${0}") (regexFindAll "[a-z]" "a1b2" -1) (regexSplit "z+" "pizza" -1) | toJson | quote }}
  y: {{ list (fromYaml "a: &a [1]\nb: *a") (fromYaml "a: [") (fromYamlArray "[1, b]") (fromYamlArray "a: b") | toJson | quote }}
  z: {{ list (mustRegexFindAll "a" "aa" 1) (mustRegexSplit "b" "abc" 2) (mustRegexReplaceAll "a" "aa" "b") | toJson | quote }}
`
	c, err := Load(chartOf(t, map[string]string{"templates/t.yaml": text}), "evil.tgz", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := action.NewConfiguration()
	i := action.NewInstall(cfg)
	i.DryRunStrategy, i.ReleaseName, i.Namespace = action.DryRunClient, "x", "store"
	rel, err := i.Run(c.Copy(), map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	docs, err := readFile("manifest", rel.(*release.Release).Manifest, growth())
	if err != nil {
		t.Fatal(err)
	}
	docs[0].object.SetNamespace("store")
	same(t, docs[0].object, rendered(t, c, Options{Release: "x", Namespace: "store"}).Objects[0])
}
