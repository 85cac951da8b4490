package stackmap

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// TestMaps holds cards, boxes and paths to those of the page, which ui/test/map.test.mjs holds to the
// same file.
func TestMaps(t *testing.T) {
	text, err := os.ReadFile("testdata/maps.json")
	if err != nil {
		t.Fatal(err)
	}
	var maps []struct {
		State   *uistate.State
		Address string // which part is shown, and how
		Cards   [][]any
		Boxes   [][]float64
		Regions [][]any
		Paths   []string
		Size    []float64
	}
	if err := json.Unmarshal(text, &maps); err != nil {
		t.Fatal(err)
	}
	if len(maps) == 0 {
		t.Fatal("there is no map")
	}
	for i, want := range maps {
		choice, err := ParseChoice(want.Address)
		if err != nil {
			t.Fatal(err)
		}
		m := New(want.State).Shown(want.State, choice)
		p := m.Place()
		var cards [][]any
		for _, c := range m.Cards {
			cost := int64(-1)
			if c.Cost != nil {
				cost = *c.Cost
			}
			var row []any
			row = append(row, c.Key)
			for _, n := range []int{c.Node, c.Health, c.Pods, c.Well, int(cost), int(c.Shared), c.Users, len(c.Payers)} {
				row = append(row, float64(n))
			}
			cards = append(cards, row)
		}
		var boxes [][]float64
		for _, b := range p.Boxes {
			boxes = append(boxes, []float64{b.X, b.Y, b.Width, b.Height})
		}
		var regions [][]any
		for _, r := range p.Regions {
			regions = append(regions, []any{r.Name, r.X, r.Y, r.Width, r.Height})
		}
		var paths []string
		for _, l := range p.Paths {
			paths = append(paths, l.D)
		}
		for _, c := range []struct{ got, want any }{{cards, want.Cards}, {boxes, want.Boxes}, {regions, want.Regions}, {paths, want.Paths}, {[]float64{p.Width, p.Height}, want.Size}} {
			if !reflect.DeepEqual(c.got, c.want) {
				t.Errorf("map %d:\ngot  %v\nwant %v", i, c.got, c.want)
			}
		}
	}
}

// TestChoice: what an address says is what the address of it says.
func TestChoice(t *testing.T) {
	for _, c := range []Choice{{}, {ByApp: true}, {Tone: true, Cluster: true}, {ByApp: true, Tone: true, Namespaces: []string{"shop", "-"}, Apps: []string{"a b&c"}}} {
		got, err := ParseChoice(c.Address())
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%+v of %q, %v; want %+v", got, c.Address(), err, c)
		}
	}
	if _, err := ParseChoice("stacks?%zz"); err == nil {
		t.Error("no error for an address that is none")
	}
}

// TestNothing: without stacks there is no card, and no panic.
func TestNothing(t *testing.T) {
	if m := New(&uistate.State{}); len(m.Cards) != 0 || m.Place().Height != 0 {
		t.Errorf("%v", m)
	}
}
