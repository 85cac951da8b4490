package installer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"helm.sh/helm/v4/pkg/strvals"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// Wanted names what is put on a cluster: operators, or a System.
type Wanted struct {
	// Operators are OPERATOR[@VERSION].
	Operators []string
	// File is the manifest of a System.
	File     string
	Values   Values
	Catalogs catalogs.Options
}

// Values are the values of a command line, as helm takes them.
type Values struct{ Files, Sets, Strings []string }

// ErrNoTarget is that nothing was named.
var ErrNoTarget = hint.With(errors.New("name an OPERATOR, or a System with -f FILE"), "kubectl sysop catalog list shows the operators")

// Read reads what is wanted into a request, with the values and the catalogs. The name is that of
// the first operator, or of the System.
func (w *Wanted) Read(ctx context.Context, in *app.Input, req *Request) (name string, cats *catalogs.Catalogs, err error) {
	if req.Targets, err = w.targets(); err != nil {
		return "", nil, err
	}
	if req.Values, err = w.Values.Read(ctx); err != nil {
		return "", nil, err
	}
	if cats, err = catalogs.Load(ctx, w.Catalogs, nil); err != nil {
		return "", nil, err
	}
	if len(req.Targets) > 0 {
		return req.Targets[0].Name, cats, nil
	}
	text, file := cats.System, w.Catalogs.Bundle+": "+bundle.System
	if w.File != "" {
		file = systems.FileName(w.File)
		if text, err = systems.Text(ctx, in, w.File); err != nil {
			return "", nil, err
		}
	}
	if text == nil {
		return "", nil, hint.With(fmt.Errorf("the bundle %s has no System", w.Catalogs.Bundle), "name an OPERATOR, or a System with -f FILE")
	}
	var problems []strict.Problem
	if req.System, problems = system.ParseWith(file, text, req.Values); len(problems) > 0 {
		return "", nil, hint.With(&hint.Lines{Lines: hint.Placed(file, problems)}, systems.FormatHint)
	}
	req.Manifest = string(text)
	return req.System.Name, cats, nil
}

// targets checks what is to be put on the cluster.
func (w *Wanted) targets() ([]Target, error) {
	v := &w.Values
	switch n := len(w.Operators); {
	case n == 0 && w.File == "" && w.Catalogs.Bundle == "":
		return nil, ErrNoTarget
	case n > 0 && w.File != "":
		return nil, hint.With(errors.New("name OPERATORs, or a System with -f, and not both"), "a System names its operators itself: spec.operators")
	case n > 1 && len(v.Sets)+len(v.Strings)+len(v.Files) > 0:
		return nil, hint.With(errors.New("--set and --values are for one operator, and several are named"), "install them one after the other, or write a System: spec.operators[].values")
	}
	return ParseTargets(w.Operators)
}

// ParseTargets parses OPERATOR[@VERSION].
func ParseTargets(args []string) ([]Target, error) {
	var out []Target
	for _, arg := range args {
		name, version, at := strings.Cut(arg, "@")
		switch {
		case name == "" || at && version == "":
			return nil, hint.With(fmt.Errorf("%q: expected OPERATOR or OPERATOR@VERSION", arg), "kubectl sysop catalog list shows them")
		case strings.Contains(name, "/"):
			return nil, hint.With(fmt.Errorf("%q: expected the name of an entry of the catalog", arg), "kubectl sysop catalog search finds one; a System is installed with -f FILE")
		}
		for _, t := range out {
			if t.Name == name {
				return nil, fmt.Errorf("%s is named twice", name)
			}
		}
		out = append(out, Target{Name: name, Version: version})
	}
	return out, nil
}

// maxValuesBytes is more than any file of values has.
const maxValuesBytes = 4 << 20

// Read lays the values over each other: files in their order, then --set, then --set-string. It is
// nil where none is given.
func (v *Values) Read(ctx context.Context) (map[string]any, error) {
	var all map[string]any
	for _, name := range v.Files {
		data, err := userfile.Read(ctx, name, maxValuesBytes, "file of values")
		if err != nil {
			return nil, fmt.Errorf("read the values: %w", err)
		}
		if err := strict.CheckBounds(data); err != nil {
			return nil, fmt.Errorf("read the values: %s: %w", name, err)
		}
		var values map[string]any
		if err := yaml.UnmarshalStrict(data, &values); err != nil {
			return nil, hint.With(fmt.Errorf("%s: %w", name, err), "expected a YAML mapping of values, as for helm")
		}
		all = system.Laid(all, values)
	}
	for _, given := range []struct {
		flag  string
		texts []string
		parse func(string, map[string]any) error
	}{{"--set", v.Sets, strvals.ParseInto}, {"--set-string", v.Strings, strvals.ParseIntoString}} {
		for _, text := range given.texts {
			if all == nil {
				all = map[string]any{}
			}
			if !strings.Contains(text, "=") {
				return nil, hint.With(fmt.Errorf("%s %s: expected KEY=VALUE", given.flag, text), given.flag+" replicas=2,image.tag=1.2")
			}
			if err := given.parse(text, all); err != nil {
				return nil, fmt.Errorf("%s %s: %w", given.flag, text, err)
			}
		}
	}
	return all, nil
}
