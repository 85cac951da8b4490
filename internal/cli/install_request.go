package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/bundle"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/installer"
	"github.com/kubectl-sysop/kubectl-sysop/internal/systems"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

var errNoTarget = hint.With(errors.New("name an OPERATOR, or a System with -f FILE"), "kubectl sysop catalog list shows the operators")

// wanted reads what is installed: the operators of the arguments, or a System, with the values and
// the catalogs of the flags.
func (o *installOptions) wanted(ctx context.Context) (req installer.Request, cats *catalogs.Catalogs, err error) {
	req = o.request()
	if req.Targets, err = o.checkTargets(); err != nil {
		return req, nil, err
	}
	if req.Values, err = o.readValues(ctx); err != nil {
		return req, nil, err
	}
	if cats, err = o.load(ctx, o.common); err != nil {
		return req, nil, err
	}
	if len(req.Targets) > 0 {
		return req, cats, o.named(req.Targets[0].Name)
	}
	text, name := cats.System, o.Bundle+": "+bundle.System
	if o.file != "" {
		name = systems.FileName(o.file)
		if text, err = systems.Text(ctx, &o.Input, o.file); err != nil {
			return req, nil, err
		}
	}
	if text == nil {
		return req, nil, hint.With(fmt.Errorf("the bundle %s has no System", o.Bundle), "name an OPERATOR, or a System with -f FILE")
	}
	var problems []strict.Problem
	if req.System, problems = system.ParseWith(name, text, req.Values); len(problems) > 0 {
		return req, nil, hint.With(&hint.Lines{Lines: hint.Placed(name, problems)}, systems.FormatHint)
	}
	req.Manifest = string(text)
	return req, cats, o.named(req.System.Name)
}

// checkTargets checks what is to be put on the cluster.
func (o *installOptions) checkTargets() ([]installer.Target, error) {
	switch {
	case len(o.args) == 0 && o.file == "" && o.Bundle == "":
		return nil, errNoTarget
	case len(o.args) > 0 && o.file != "":
		return nil, hint.With(errors.New("name OPERATORs, or a System with -f, and not both"), "a System names its operators itself: spec.operators")
	case len(o.args) > 1 && (len(o.sets) > 0 || len(o.text) > 0 || len(o.valueFiles) > 0):
		return nil, hint.With(errors.New("--set and --values are for one operator, and several are named"), "install them one after the other, or write a System: spec.operators[].values")
	}
	return parseTargets(o.args)
}

// parseTargets parses OPERATOR[@VERSION].
func parseTargets(args []string) ([]installer.Target, error) {
	var out []installer.Target
	for _, arg := range args {
		name, version, at := strings.Cut(arg, "@")
		switch {
		case name == "" || at && version == "":
			return nil, hint.With(fmt.Errorf("%q: expected OPERATOR or OPERATOR@VERSION", arg), "kubectl sysop catalog list shows them")
		case strings.Contains(name, "/"):
			return nil, hint.With(fmt.Errorf("%q: expected the name of an entry of the catalog", arg), "kubectl sysop catalog search finds one; a System is installed with -f FILE")
		}
		for _, o := range out {
			if o.Name == name {
				return nil, fmt.Errorf("%s is named twice", name)
			}
		}
		out = append(out, installer.Target{Name: name, Version: version})
	}
	return out, nil
}
