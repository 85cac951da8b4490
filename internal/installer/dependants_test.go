package installer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
	"github.com/kubectl-sysop/kubectl-sysop/internal/helm"
	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/permission"
)

func record(name, namespace string, labels map[string]string) install.LiveRelease {
	return install.LiveRelease{Name: name, Namespace: namespace, Status: helm.Deployed, Labels: labels}
}

func texts(all []dependant) (out []string) {
	for _, d := range all {
		text := d.text
		if !d.believed {
			text += "?"
		}
		out = append(out, text)
	}
	return out
}

// Who needs a package is known by the journals; what is not where the catalogue has it is there
// by its own word, and provides nothing to others.
func TestDependants(t *testing.T) {
	kettle := solve.API{Kind: "Kettle.example.com", Versions: []string{"v1"}}
	there := map[string]installedPackage{
		"kettle": {name: "kettle", version: "1.0.0", release: "kettle", namespace: "kettle"},
		"teapot": {name: "teapot", version: "1.0.0", release: "teapot", namespace: "teapot"},
	}
	needs := func(n ...install.Need) *install.Journal {
		return &install.Journal{Runs: []install.RunRecord{{Needs: n}}}
	}
	releases := []install.LiveRelease{
		record("kettle", "kettle", map[string]string{helm.PackageLabel: "kettle"}),
		record("teapot", "teapot", map[string]string{helm.PackageLabel: "teapot"}),
		record("saucer", "tenant", map[string]string{helm.PackageLabel: "saucer"}),
		record("teapot", "tenant", map[string]string{helm.PackageLabel: "teapot"}), // which it is not
		record("tea-cup", "home", map[string]string{helm.SystemLabel: "tea", helm.SystemNamespaceLabel: "home"}),
	}
	d, recorded := &dependants{}, map[string]bool{}
	add := func(in install.Installation, j *install.Journal) { d.add(in, j, releases, there, recorded) }
	// The forged one comes first.
	add(install.Installation{Name: "teapot", Namespace: "tenant"}, needs(install.Need{Part: "teapot", Version: "1.0.0"}))
	add(install.Installation{Name: "teapot", Namespace: "teapot"}, needs(install.Need{Part: "teapot", Version: "1.0.0", Requires: []solve.Requirement{{API: kettle}}}))
	add(install.Installation{Name: "saucer", Namespace: "tenant"}, needs(install.Need{Part: "saucer", Version: "2.0.0", Requires: []solve.Requirement{{Package: "kettle", Range: "<2"}}, Provides: []solve.API{kettle}}))
	add(install.Installation{Name: "tea", Namespace: "home", System: true}, needs(install.Need{Requires: []solve.Requirement{{Package: "kettle"}}}))
	add(install.Installation{Name: "gone", Namespace: "gone"}, needs(install.Need{Part: "gone", Version: "1.0.0", Requires: []solve.Requirement{{Package: "kettle"}}}))
	if !recorded["teapot"] || recorded["saucer"] {
		t.Errorf("recorded: %v", recorded)
	}
	all, err := d.needing("kettle", "/", []solve.API{kettle}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"saucer 2.0.0 in tenant needs kettle <2?", "teapot 1.0.0 needs kettle (Kettle.example.com (v1))", "the System tea in home needs kettle?"}
	if got := texts(all); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	all, err = d.needing("kettle", "home/tea", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(all); !slices.Contains(got, "the System tea in home needs kettle") {
		t.Errorf("the record of the kettle names the System: %q", got)
	}
	by, err := d.neededBy(install.Installation{Name: "tea", Namespace: "home"}, []string{"kettle", "teapot"})
	if err != nil || len(by) != 1 || !slices.Equal(by["kettle"], []string{"saucer 2.0.0 in tenant"}) {
		t.Errorf("without the System: %q, %v", by, err)
	}
	planned := &install.Plan{}
	refuseDependants(planned, all, "kettle", "--orphan", true)
	if len(planned.Refusals) != 1 || len(planned.Notes) != 1 {
		t.Errorf("with --orphan: %+v %q", planned.Refusals, planned.Notes)
	}
	planned = &install.Plan{}
	refuseDependants(planned, all, "kettle", "--orphan", false)
	if len(planned.Refusals) != 2 {
		t.Errorf("without --orphan: %+v", planned.Refusals)
	}
}

// Of what was installed before needs were written down, the catalogue tells, whatever version
// it has; an older journal of a System by the operators that it has.
func TestDependantsOfOld(t *testing.T) {
	packages := []solve.Package{{Name: "teapot", Version: "2.0.0", Requires: []solve.Requirement{{Package: "kettle", Range: ">=2"}}}}
	cats := &catalogs.Catalogs{Catalogue: catalog.Embedded()}
	e := catalogDependant(installedPackage{name: "teapot", version: "1.0.0"}, packages, cats)
	if !e.guessed || len(e.Requires) != 1 || e.Requires[0].Package != "kettle" || e.Requires[0].Range != "" {
		t.Errorf("of another version: %+v", e)
	}
	if e = catalogDependant(installedPackage{name: "teapot", version: "2.0.0"}, packages, cats); e.guessed || e.Requires[0].Range != ">=2" {
		t.Errorf("of the same: %+v", e)
	}
	releases := []install.LiveRelease{record("tea-cup", "home", map[string]string{helm.SystemLabel: "tea", helm.SystemNamespaceLabel: "home"})}
	d := &dependants{}
	d.add(install.Installation{Name: "tea", Namespace: "home", System: true}, &install.Journal{Runs: []install.RunRecord{{Releases: []install.ReleaseState{
		{Part: "kettle", Release: "kettle", Namespace: "kettle"}, {Part: "cup", App: true, Release: "tea-cup", Namespace: "home"},
	}}}}, releases, nil, map[string]bool{})
	all, err := d.needing("kettle", "", nil, nil)
	if err != nil || len(all) != 1 || !strings.HasPrefix(all[0].text, "the System tea in home needs kettle") {
		t.Errorf("%+v, %v", all, err)
	}
}

// lockedReader lets the releases of some namespaces be listed alone.
type lockedReader struct {
	install.Reader
	open []string
}

func (r lockedReader) ListMetadata(_ context.Context, of object.Resource, namespace, _ string) ([]*unstructured.Unstructured, error) {
	if slices.Contains(r.open, namespace) {
		return nil, nil
	}
	return nil, apierrors.NewForbidden(schema.GroupResource{Resource: of.Plural}, "", errors.New("you may not"))
}

// What may not be read is not taken for missing: who needs a package in such a namespace is not
// known, which refuses what would break them, unless the user says to go on.
func TestDependantsHidden(t *testing.T) {
	const text = "you may not list secrets in all namespaces: dependents in other namespaces are unknown"
	c := &cluster{Installer: &Installer{Catalogs: &catalogs.Catalogs{Catalogue: catalog.Embedded()}}, reader: lockedReader{open: []string{"mine"}}}
	d, err := c.readDependants(t.Context(), nil, []string{"mine", "theirs"})
	if err != nil || !slices.Equal(d.hidden, []string{text}) {
		t.Fatalf("hidden %q, %v", d.hidden, err)
	}
	planned := &install.Plan{}
	d.refuseHidden(planned, "kettle", "--force", false)
	if len(planned.Refusals) != 1 || planned.Refusals[0].Message != text || !strings.Contains(planned.Refusals[0].Hint, "--force") {
		t.Errorf("refused: %+v", planned.Refusals)
	}
	planned = &install.Plan{}
	d.refuseHidden(planned, "kettle", "--force", true)
	if len(planned.Refusals) != 0 || !slices.Equal(planned.Notes, []string{text}) {
		t.Errorf("forced: %+v %q", planned.Refusals, planned.Notes)
	}

	c.reader = lockedReader{open: []string{""}}
	if d, err = c.readDependants(t.Context(), nil, nil); err != nil || len(d.hidden) != 0 {
		t.Errorf("all may be read, and hidden is %q, %v", d.hidden, err)
	}

	// An upgrade to another version is refused where it is not known who needs the former one.
	for _, force := range []bool{false, true} {
		p := &Plan{
			req: Request{Force: force}, Planned: &install.Plan{}, needs: &dependants{hidden: []string{text}},
			chosen: []solve.Choice{{Package: solve.Package{Name: "kettle", Version: "2.0.0"}, Was: "1.0.0"}},
		}
		if err := p.refuseBreaking(); err != nil || (len(p.Planned.Refusals) == 0) != force {
			t.Errorf("force %v: %+v, %v", force, p.Planned.Refusals, err)
		}
		p.chosen[0].Was, p.Planned = "2.0.0", &install.Plan{}
		if err := p.refuseBreaking(); err != nil || len(p.Planned.Refusals) != 0 {
			t.Errorf("of the same version: %+v, %v", p.Planned.Refusals, err)
		}
	}
}

// Missing rights are said in a line for each resource of a namespace.
func TestDeniedLines(t *testing.T) {
	var missing []permission.Permission
	for _, name := range []string{"a", "b", "c"} {
		for _, verb := range []string{"patch", "get"} {
			missing = append(missing, permission.Permission{Verb: verb, Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: name})
		}
	}
	missing = append(missing, permission.Permission{Verb: "get", Resource: "secrets", Namespace: "shop", Name: "db"})
	want := []string{"you may not get, patch customresourcedefinitions.apiextensions.k8s.io", "you may not get secrets db in shop"}
	if got := deniedLines(missing); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
