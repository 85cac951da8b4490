package render_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
)

// shopPicture is testdata/picture.json, which ui/test/scene.test.mjs draws as well.
func shopPicture(t testing.TB) *uistate.State {
	t.Helper()
	text, err := os.ReadFile("testdata/picture.json")
	if err != nil {
		t.Fatal(err)
	}
	var p uistate.State
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// hostilePicture holds a text wherever a cluster has a say.
func hostilePicture(s string) *uistate.State {
	cost := int64(100)
	node := func(edges ...uistate.Edge) *uistate.Node {
		return &uistate.Node{Name: s, State: s, Health: 6, Reason: s, Message: s, Edges: edges}
	}
	edge := func(to int) uistate.Edge { return uistate.Edge{To: to, Relation: 2, Via: s, Why: s} }
	return &uistate.State{
		Title: s, Source: s, At: s, Prices: s, Currency: s,
		Kinds: []uistate.Kind{{Kind: s, Group: s}}, Namespaces: []string{"", s}, Labels: []string{s}, Rules: []string{s},
		Nodes: []*uistate.Node{node(edge(1)), node(edge(2)), node(edge(0), edge(1))},
		Stacks: []uistate.Stack{{
			Name: s, Roots: []int{0}, Health: 6, Objects: 3, Cost: &cost,
			Tree: []uistate.Position{{How: s, Cost: &cost}, {Node: 1, Depth: 1, How: s, Shared: true}, {Node: 2, Depth: 2, How: s}},
		}},
	}
}

func TestGoldenDrawings(t *testing.T) {
	a := view.Output{UIState: shopPicture(t)}
	got := text(t, "svg", a, render.Options{})
	golden(t, "picture.svg", got)
	if other := text(t, "svg", a, render.Options{Width: 40, Color: true, NoHeaders: true}); other != got {
		t.Error("svg depends on the terminal")
	}
	golden(t, "unsafe.svg", text(t, "svg", view.Output{UIState: hostilePicture(unsafeMessage + `<script>alert(1)</script>"'&]]>`)}, render.Options{}))
	golden(t, "nothing.svg", text(t, "svg", view.Output{UIState: &uistate.State{}}, render.Options{}))
}

// drawn is what there is in a drawing: how many of each element, and its attributes.
func drawn(t testing.TB, svg string) (elements map[string]int, attributes map[string]bool) {
	t.Helper()
	elements, attributes = map[string]int{}, map[string]bool{}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return elements, attributes
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			elements[e.Name.Local]++
			for _, a := range e.Attr {
				attributes[a.Name.Local] = true
			}
		case xml.ProcInst, xml.Directive, xml.Comment:
			t.Errorf("%T in a drawing", e)
		}
	}
}

func TestDrawingsHaveAllCards(t *testing.T) {
	svg := text(t, "svg", view.Output{UIState: shopPicture(t)}, render.Options{})
	for _, want := range []string{"5 Pods", "CrashLoopBackOff", "below: ✖ Degraded", "· shared", "✔ Healthy", "○ Missing", "needs db-tls, by spec: spec.tls", "12.50 USD"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the drawing", want)
		}
	}
	if strings.Contains(svg, "http://") && strings.Count(svg, "http://") != 1 {
		t.Error("a drawing refers to something outside")
	}
}

func TestMapHasAllCards(t *testing.T) {
	p := shopPicture(t)
	p.View = "stacks"
	svg := text(t, "svg", view.Output{UIState: p}, render.Options{})
	golden(t, "map.svg", svg)
	for _, want := range []string{"Shop", "✖ Degraded", "12.50", "1 stack<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in the map", want)
		}
	}
}

func FuzzSVG(f *testing.F) {
	for _, s := range []string{"", "web", unsafeMessage, `"><script>alert(1)</script>`, "]]>", "&lt;", "</title></svg>", "<!--", "<?xml?>", "\ufffe\uffff", "数据库", "' onload='x"} {
		f.Add(s)
	}
	plain := text(f, "svg", view.Output{UIState: hostilePicture("plain")}, render.Options{})
	want, names := drawn(f, plain)
	f.Fuzz(func(t *testing.T, s string) {
		stacks := hostilePicture(s)
		stacks.View = "stacks"
		harmless(t, "svg", text(t, "svg", view.Output{UIState: stacks}, render.Options{}))
		svg := text(t, "svg", view.Output{UIState: hostilePicture(s)}, render.Options{})
		harmless(t, "svg", svg)
		elements, attributes := drawn(t, svg)
		// An empty text may leave an element out; none adds one.
		for e, n := range elements {
			if n > want[e]+1 {
				t.Errorf("%d %s of %q, %d without", n, e, s, want[e])
			}
		}
		if s != "" && fmt.Sprint(attributes) != fmt.Sprint(names) {
			t.Errorf("attributes %v of %q", attributes, s)
		}
	})
}
