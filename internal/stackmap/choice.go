package stackmap

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
)

// Choice is which stacks a map shows, and how. An address of the page has it.
type Choice struct {
	// ByApp has regions of System apps in place of namespaces. Tone has cards that cost more darker.
	ByApp, Tone bool
	// Cluster includes the stacks of the cluster itself, which are shown also if there are no others.
	Cluster bool
	// Namespaces and Apps are those whose stacks are shown, noGroup for stacks without one; empty for all.
	Namespaces, Apps []string
}

// noGroup stands in an address for what has no namespace, or no System app.
const noGroup = "-"

// ParseChoice reads the address of a map, such as "stacks?group=app&tone=cost".
func ParseChoice(address string) (Choice, error) {
	_, text, _ := strings.Cut(address, "?")
	query, err := url.ParseQuery(text)
	if err != nil {
		return Choice{}, fmt.Errorf("read the address %q: %w", address, err)
	}
	return Choice{
		ByApp: query.Get("group") == "app", Tone: query.Get("tone") == "cost", Cluster: slices.Contains(query["open"], "cluster"),
		Namespaces: query["ns"], Apps: query["label"],
	}, nil
}

// Address is that of the page which shows the same; empty for the whole map by namespace.
func (c Choice) Address() string {
	query := url.Values{"ns": c.Namespaces, "label": c.Apps}
	for _, p := range []struct {
		set        bool
		key, value string
	}{{c.ByApp, "group", "app"}, {c.Tone, "tone", "cost"}, {c.Cluster, "open", "cluster"}} {
		if p.set {
			query.Set(p.key, p.value)
		}
	}
	if text := query.Encode(); text != "" {
		return "stacks?" + text
	}
	return ""
}

// Shown is the chosen part of the map of a state: the stacks, and what they need, with the costs and
// the users that it has in the whole.
func (m *Map) Shown(p *uistate.State, c Choice) *Map {
	app := apps(p)
	all := c.Cluster || !slices.ContainsFunc(p.Stacks, func(s uistate.Stack) bool { return !s.Cluster })
	in := func(chosen []string, group string) bool {
		if group == "" {
			group = noGroup
		}
		return len(chosen) == 0 || slices.Contains(chosen, group)
	}
	shown := make([]bool, len(m.Cards))
	needed := m.needed()
	var show func(int)
	show = func(i int) {
		if shown[i] {
			return
		}
		shown[i] = true
		for _, to := range needed[i] {
			show(to)
		}
	}
	for i, card := range m.Cards {
		if s := card.Stack; s != nil && (all || !s.Cluster) && in(c.Namespaces, s.Namespace) && in(c.Apps, app(card.Node)) {
			show(i)
		}
	}
	out, number := &Map{}, make([]int, len(m.Cards))
	for i, card := range m.Cards {
		if !shown[i] {
			continue
		}
		own := *card
		if c.ByApp {
			own.Group = app(own.Node)
		}
		number[i] = len(out.Cards)
		out.Cards = append(out.Cards, &own)
	}
	for _, l := range m.Lines {
		if shown[l.From] && shown[l.To] {
			own := *l
			own.From, own.To = number[l.From], number[l.To]
			out.Lines = append(out.Lines, &own)
		}
	}
	return out
}

// needed returns, by card, the cards that it cannot work without.
func (m *Map) needed() [][]int {
	out := make([][]int, len(m.Cards))
	for _, l := range m.Lines {
		if !l.Optional {
			out[l.From] = append(out[l.From], l.To)
		}
	}
	return out
}

// apps returns the System app of a node, or empty: as its label says, or the record of an adopted
// System.
func apps(p *uistate.State) func(node int) string {
	values := func(key string) map[int]string {
		out := map[int]string{}
		for i, l := range p.Labels {
			if value, ok := strings.CutPrefix(l, key+"="); ok {
				out[i] = value
			}
		}
		return out
	}
	named, members, ids := values("app.kubernetes.io/part-of"), values("applyset.kubernetes.io/part-of"), values("applyset.kubernetes.io/id")
	systems := map[string]string{} // by id
	for _, n := range p.Nodes {
		if n == nil {
			continue
		}
		for _, l := range n.Labels {
			if id, ok := ids[l]; ok {
				systems[id] = n.Name
			}
		}
	}
	return func(node int) string {
		if node < 0 || p.Nodes[node] == nil {
			return ""
		}
		labels := p.Nodes[node].Labels
		if i := slices.IndexFunc(labels, func(l int) bool { _, ok := named[l]; return ok }); i >= 0 {
			return named[labels[i]]
		}
		if i := slices.IndexFunc(labels, func(l int) bool { _, ok := members[l]; return ok }); i >= 0 {
			return systems[members[labels[i]]]
		}
		return ""
	}
}
