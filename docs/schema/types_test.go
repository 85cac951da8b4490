package schema_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/internal/backup"
	"github.com/kubectl-sysop/kubectl-sysop/internal/manpage"
	"github.com/kubectl-sysop/kubectl-sysop/internal/uistate"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view/regulation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/journal"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/relation"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// field is what a Go type says of a property.
type field struct {
	typ      reflect.Type
	optional bool
}

// fields are those of a struct as encoding/json sees them.
func fields(t *testing.T, typ reflect.Type) map[string]field {
	t.Helper()
	out := map[string]field{}
	for f := range typ.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			maps.Copy(out, fields(t, f.Type))
		case name == "-", !f.IsExported() && !f.Anonymous:
		case name == "":
			t.Errorf("%s.%s has no name in JSON", typ, f.Name)
		default:
			out[name] = field{f.Type, strings.Contains(options, "omit")}
		}
	}
	return out
}

// checker walks a Go type and a schema together.
type checker struct {
	*testing.T
	defs map[string]any
}

func (c checker) check(at string, typ reflect.Type, schema map[string]any) {
	c.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
		if either, ok := schema["anyOf"].([]any); ok && strings.HasSuffix(at, "[]") { // an element, or null
			schema, _ = either[0].(map[string]any)
		}
	}
	ref, isRef := schema["$ref"].(string)
	if s, _ := schema["description"].(string); s == "" && !isRef && !strings.HasSuffix(at, "[]") {
		c.Errorf("%s: no description", at)
	}
	if isRef {
		schema, _ = c.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		if s, _ := schema["description"].(string); s == "" {
			c.Errorf("%s: %s has no description", at, ref)
		}
	}
	if typ.Kind() == reflect.Interface { // a value of JSON
		if schema["type"] != nil {
			c.Errorf("%s: type %v, want none", at, schema["type"])
		}
		return
	}
	want := map[reflect.Kind]string{reflect.Struct: "object", reflect.Slice: "array", reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int32: "integer", reflect.Int64: "integer", reflect.Map: "object"}[typ.Kind()]
	switch typ {
	case reflect.TypeFor[json.Number]():
		want = "number"
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[time.Time]():
		if schema["type"] != "string" || schema["format"] != "date-time" {
			c.Errorf("%s: %v, want a string of the format date-time", at, schema)
		}
		return
	}
	if typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		want = "string"
	}
	_, isConst := schema["const"].(string)
	if got := schema["type"]; got != want && (!isConst || want != "string") {
		c.Errorf("%s: type %v, want %s", at, got, want)
	}
	switch {
	case want == "string":
	case typ.Kind() == reflect.Slice:
		items, _ := schema["items"].(map[string]any)
		c.check(at+"[]", typ.Elem(), items)
	case typ.Kind() == reflect.Map:
		values, _ := schema["additionalProperties"].(map[string]any)
		c.check(at+"[]", typ.Elem(), values)
	case typ.Kind() == reflect.Struct:
		if seen := at + ">" + typ.Name(); strings.Count(seen, "rows[]") < 3 { // A row holds rows.
			c.properties(at, fields(c.T, typ), schema)
		}
	}
}

func (c checker) properties(at string, fields map[string]field, schema map[string]any) {
	c.Helper()
	properties, _ := schema["properties"].(map[string]any)
	if schema["additionalProperties"] != false {
		c.Errorf("%s: additional properties are allowed", at)
	}
	if got, want := slices.Sorted(maps.Keys(properties)), slices.Sorted(maps.Keys(fields)); !slices.Equal(got, want) {
		c.Errorf("%s: properties %v, want %v", at, got, want)
		return
	}
	required, _ := schema["required"].([]any)
	for name, f := range fields {
		// The type and version of our documents are always there, whatever the type
		// that they borrow from says.
		head := name == "apiVersion" && at == "" || name == "kind"
		if slices.Contains(required, any(name)) == (f.optional && !head) {
			c.Errorf("%s.%s: optional is %v, required are %v", at, name, f.optional, required)
		}
		property, _ := properties[name].(map[string]any)
		if f.typ != nil {
			c.check(at+"."+name, f.typ, property)
		}
	}
}

func TestSchemasAreTheTypes(t *testing.T) {
	for name, v := range map[string]any{
		"graph": view.GraphDocument{}, "problems": view.ProblemsDocument{}, "preflight": view.PreflightDocument{}, "path": view.PathDocument{}, "impact": view.ImpactDocument{}, "snapshot": source.SnapshotHeader{},
		"health": view.HealthDocument{}, "health-change": view.HealthChangeDocument{}, "metrics": view.MetricsDocument{}, "metrics-doctor": view.MetricsDoctorDocument{}, "monitor-plan": view.MonitorPlanDocument{}, "monitor-status": view.MonitorStatusDocument{}, "stacks": view.StacksDocument{}, "systems": view.SystemsDocument{}, "system-change": view.SystemChangeDocument{}, "logs": view.LogLineDocument{}, "man": manpage.Document{}, "rules": view.RuleListDocument{}, "rules-explain": view.RuleExplanationDocument{}, "rules-lint": view.LintDocument{},
		"ui-state": uistate.State{}, "check": view.CheckDocument{}, "colocation": view.ColocationDocument{}, "drain": view.DrainDocument{}, "autoscale-plan": view.AutoscalePlanDocument{}, "autoscale-status": view.AutoscaleStatusDocument{},
		"regulate-plan": regulation.PlanDocument{}, "regulate-status": regulation.StatusDocument{}, "regulate-history": regulation.HistoryDocument{}, "regulate-done": regulation.DoneDocument{}, "regulate-run": regulation.RunDocument{},
		"signals": view.SignalListDocument{}, "regulate-neighbours": regulation.NeighboursDocument{},
		"prices": cost.BookDocument{}, "prices-nodes": view.NodePricesDocument{},
		"event": journal.Event{}, "install-plan": view.InstallPlanDocument{}, "install-done": view.InstallDoneDocument{}, "install-history": view.InstallHistoryDocument{}, "install-diff": view.InstallDiffDocument{},
		"catalog": view.CatalogDocument{}, "catalog-show": view.CatalogEntryDocument{}, "catalog-validate": view.CatalogProblemsDocument{},
		"backup": backup.Plan{}, "backups": view.BackupsDocument{}, "restore": backup.Restore{},
		"system-show": view.SystemShownDocument{}, "system-validate": view.SystemsCheckedDocument{},
	} {
		t.Run(name, func(t *testing.T) {
			doc := read(t, name)
			defs, _ := doc["$defs"].(map[string]any)
			checker{t, defs}.check("", reflect.TypeOf(v), doc)
		})
	}
}

// TestOwnTypes reads the types that are not exported from their source.
func TestOwnTypes(t *testing.T) {
	for name, typ := range map[string]string{"version": "version.go versionDocument", "ui": "ui_print.go servedDocument"} {
		source, typ, _ := strings.Cut(typ, " ")
		file, err := parser.ParseFile(token.NewFileSet(), "../../internal/cli/"+source, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]field{}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.TypeSpec)
			if !ok || s.Name.Name != typ {
				return true
			}
			for _, f := range s.Type.(*ast.StructType).Fields.List {
				if len(f.Names) == 0 {
					maps.Copy(got, fields(t, reflect.TypeFor[view.Head]()))
					continue
				}
				tag, _ := strconv.Unquote(f.Tag.Value)
				name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				got[name] = field{optional: strings.Contains(options, "omit")}
			}
			return false
		})
		checker{t, nil}.properties("", got, read(t, name))
	}
}

func TestEnumsAreTheConstants(t *testing.T) {
	defs, _ := read(t, "graph")["$defs"].(map[string]any)
	enum := func(def, property string) []string {
		properties := defs[def].(map[string]any)["properties"].(map[string]any)
		var out []string
		for _, v := range properties[property].(map[string]any)["enum"].([]any) {
			out = append(out, v.(string))
		}
		return out
	}
	var relations, vias, states, severities []string
	for _, r := range relation.Relations() {
		relations = append(relations, r.String())
	}
	for v := relation.Owner; v <= relation.Env; v++ {
		vias = append(vias, v.String())
	}
	for s := graph.Present; s <= graph.Virtual; s++ {
		states = append(states, s.String())
	}
	for _, s := range graph.Severities() {
		severities = append(severities, s.String())
	}
	for what, c := range map[string][2][]string{
		"relation": {enum("edge", "relation"), relations},
		"via":      {enum("edge", "via"), vias},
		"state":    {enum("node", "state"), states},
		"severity": {enum("problem", "severity"), severities},
		"reason":   {enum("problem", "reason"), constants(t, "graph/problem.go")["reason"]},
	} {
		if !slices.Equal(c[0], c[1]) {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
}

// TestEnumsOfRegulation holds the words of regulation to the constants.
func TestEnumsOfRegulation(t *testing.T) {
	words := constants(t, "regulate/planned.go", "regulate/journal.go")
	if known := regulate.States(); !slices.EqualFunc(known, words["State"], func(s regulate.State, word string) bool { return string(s) == word }) {
		t.Errorf("the states of a journal are %v, the constants %v", known, words["State"])
	}
	for _, c := range []struct {
		schema, def, property string
		want                  []string
	}{
		{"regulate-plan", "regulationRefusal", "reason", words["reason"]},
		{"regulate-done", "regulationRefusal", "reason", words["reason"]},
		{"regulate-plan", "regulationStep", "verb", words["Verb"]},
		{"regulate-plan", "regulationApp", "state", words["AppStatus"]},
		{"regulate-status", "regulationApp", "state", words["AppStatus"]},
		{"regulate-status", "operation", "state", words["State"]},
		{"regulate-status", "hold", "phase", words["Phase"]},
	} {
		defs, _ := read(t, c.schema)["$defs"].(map[string]any)
		def, _ := defs[c.def].(map[string]any)
		properties, _ := def["properties"].(map[string]any)
		property, _ := properties[c.property].(map[string]any)
		var got []string
		enum, _ := property["enum"].([]any)
		for _, v := range enum {
			got = append(got, fmt.Sprint(v))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %s.%s: %v, want %v", c.schema, c.def, c.property, got, c.want)
		}
	}
}

// constants reads the words of the constants of a package from its source, by their type. Those
// without a type are reasons.
func constants(t *testing.T, files ...string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), "../../pkg/"+name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.ValueSpec)
			if !ok || len(s.Values) != 1 {
				return true
			}
			value, ok := s.Values[0].(*ast.BasicLit)
			if !ok || value.Kind != token.STRING {
				return true
			}
			typ := "reason"
			if id, ok := s.Type.(*ast.Ident); ok {
				typ = id.Name
			}
			word, _ := strconv.Unquote(value.Value)
			found[typ] = append(found[typ], word)
			return true
		})
	}
	return found
}

// TestEnumsOfChecks holds the words of a report to the constants.
func TestEnumsOfChecks(t *testing.T) {
	defs, _ := read(t, "check")["$defs"].(map[string]any)
	enum := func(def string) []string {
		var out []string
		for _, v := range defs[def].(map[string]any)["enum"].([]any) {
			out = append(out, v.(string))
		}
		return out
	}
	var severities, categories []string
	for _, s := range check.Severities() {
		severities = append(severities, s.String())
	}
	for _, c := range check.Categories() {
		categories = append(categories, string(c))
	}
	for def, want := range map[string][]string{
		"checkSeverity": severities, "checkCategory": categories,
		"checkScope": {string(check.OfDefinition), string(check.OfOperator), string(check.OfStack)},
	} {
		if got := enum(def); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", def, got, want)
		}
	}
}
