package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-sysop/kubectl-sysop/internal/manual"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// manuals is a source of the texts that definitions name.
type manuals interface {
	Manual(ctx context.Context, namespace, name, key string) (string, error)
}

// usage reads the text that the definition names.
func (m *ManualReader) usage(ctx context.Context) (manual.Usage, error) {
	u := m.declared.Usage
	texts, ok := m.Session.Source.(manuals)
	if u.ConfigMap == "" || !ok {
		return manual.Usage{}, nil
	}
	places, err := m.places(ctx)
	if err != nil {
		return manual.Usage{}, err
	}
	var last manual.Usage
	nowhere := true
	for _, ns := range places {
		ref := object.Ref{Kind: "ConfigMap", Namespace: ns, Name: u.ConfigMap}
		text, err := texts.Manual(ctx, ns, u.ConfigMap, u.Key)
		reason, known := errors.AsType[*source.NoManualError](err)
		switch {
		case err == nil:
			return manual.Usage{ConfigMap: ref.String(), Key: u.Key, Text: text}, nil
		case !known:
			return manual.Usage{}, err
		}
		// A forbidden place says more than a missing one.
		if last.Problem == "" || !reason.Absent {
			nowhere = nowhere && reason.Absent
			last = manual.Usage{ConfigMap: ref.String(), Key: u.Key, Problem: reason.Message}
		}
	}
	if last.ConfigMap == "" {
		last = manual.Usage{ConfigMap: u.ConfigMap, Key: u.Key, Problem: "cannot find the namespace of ConfigMap " + u.ConfigMap}
	}
	if nowhere && u.Namespace == "" {
		last.Problem += " (-n names the namespace)"
	}
	return last, nil
}

// places are the namespaces in which the manual may be: that of the annotation,
// else the user's (all those of a snapshot, where none is named), else the
// operator's.
func (m *ManualReader) places(ctx context.Context) ([]string, error) {
	if ns := m.declared.Usage.Namespace; ns != "" {
		return []string{ns}, nil
	}
	var places []string
	add := func(ns string) {
		if ns != "" && !slices.Contains(places, ns) {
			places = append(places, ns)
		}
	}
	add(m.Session.Namespace)
	if snap, ok := m.Session.Source.(*source.Snapshot); !ok {
		ns, _, err := m.Session.Input.Config.ToRawKubeConfigLoader().Namespace()
		if err != nil {
			return nil, fmt.Errorf("read the namespace of the kubeconfig: %w", err)
		}
		add(ns)
	} else if m.Session.Namespace == "" {
		for _, ns := range snap.Namespaces() {
			add(ns)
		}
	}
	in, err := m.operator(ctx)
	if err != nil {
		return nil, err
	}
	for _, ns := range in.namespaces {
		add(ns)
	}
	return places, nil
}
