package health

import (
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// place is a field of an object that an expression reads, with its expected type.
type place struct {
	path   string
	fields map[string]*place // of a map
	item   *place            // of a list, or of a map with computed keys
	keyed  bool              // item is the value of a map
	// conditions are the conditions in the list of this map that are read by name.
	conditions map[string]*place
	// values are those that it is compared with, and its defaults.
	values []any
	number bool // it is compared by order
}

func (p *place) field(name string) *place {
	return child(&p.fields, name, field.Join(p.path, name))
}

func (p *place) condition(name string) *place {
	return child(&p.conditions, name, field.Join(p.path, "conditions")+"[]")
}

func child(children *map[string]*place, name, path string) *place {
	if *children == nil {
		*children = map[string]*place{}
	}
	if (*children)[name] == nil {
		(*children)[name] = &place{path: path}
	}
	return (*children)[name]
}

func (p *place) each() *place {
	if p.item == nil {
		p.item = &place{path: p.path + "[]"}
	}
	return p.item
}

func (p *place) compare(values ...any) {
	for _, v := range values {
		switch v.(type) {
		case string, bool, int64, float64:
			if !slices.Contains(p.values, v) {
				p.values = append(p.values, v)
			}
		}
	}
}

// paths returns the paths of places, each once.
func paths(places []*place) []string {
	var all []string
	for _, p := range places {
		if !slices.Contains(all, p.path) {
			all = append(all, p.path)
		}
	}
	return all
}
