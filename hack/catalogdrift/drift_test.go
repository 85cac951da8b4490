package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const widgets = `apiVersion: sysop.dev/v1alpha1
kind: Operator
name: widget
title: Widget operator
description: Makes widgets.
source: https://example.com/widget
kinds:
- {kind: Widget.example.com, plural: widgets, versions: [v1]}
relations:
- {from: Widget.example.com, to: Secret, relation: needs, field: spec.secretName}
- {from: Widget.example.com, to: ConfigMap, relation: needs, field: spec.settings}
`

const was = `# 1 repo=github.com/example/widget tag=v1.0.0 commit=aa date=2026-01-01 kinds=1

kind: Widget.example.com versions=v1(stored,served) scope=Namespaced plural=widgets status=no
version: v1
spec.secretName string
spec.settings string
`

const is = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          apiVersion: {type: string}
          spec:
            type: object
            required: [secretName]
            properties:
              secretName: {type: string, description: a Secret}
              settingsRef: {type: object, properties: {name: {type: string}}}
              size: {type: integer}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Gadget, plural: gadgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`

// TestDrift: what no longer matches and what is new is reported, and the skeletons are rewritten.
func TestDrift(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("catalog/widget.yaml", widgets)
	skeletons := "catalog/testdata/fields/widget.fields"
	write(skeletons, was)
	write("crds/all.yaml", is)
	report := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if err := run(append([]string{"--catalog", filepath.Join(dir, "catalog"), "--crds", filepath.Join(dir, "crds")}, args...), &out); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(out.String(), dir+string(filepath.Separator), "")
	}
	const want = `no longer fits: catalog/widget.yaml:11:74: Widget.example.com v1: path "spec.settings", column 5: spec has no field settings (it has secretName, settingsRef, size)
new kind: Gadget.example.com: no entry has it; its group is that of catalog/widget.yaml
new field: Widget.example.com spec.settingsRef: it may name an object, and no relation of widget reads it
`
	if got := report(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, skeletons)); string(text) != was {
		t.Errorf("without a source it is written:\n%s", text)
	}
	report("--source", "repo=github.com/example/widget tag=v1.1.0 commit=bb date=2026-02-01")
	const written = `# 1 repo=github.com/example/widget tag=v1.1.0 commit=bb date=2026-02-01 kinds=1

kind: Widget.example.com versions=v1(stored,served) scope=Namespaced plural=widgets status=no
version: v1
spec.secretName string !
spec.settingsRef.name string
spec.size integer
`
	if text, _ := os.ReadFile(filepath.Join(dir, skeletons)); string(text) != written {
		t.Errorf("got\n%swant\n%s", text, written)
	}
	if got := report(); strings.Contains(got, "new field") || !strings.Contains(got, "no longer fits") {
		t.Errorf("the second time:\n%s", got)
	}
}
