package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalogs"
)

// The composer offers what install would take: also the operators of --catalog and of the settings.
// One of the settings that cannot be read hides no other.
func TestComposeFurtherCatalogues(t *testing.T) {
	v, _ := surveyOfDemo(t, true)
	settings := filepath.Join(t.TempDir(), "config.yaml")
	hello, err := filepath.Abs("../../examples/hello/catalogue")
	if err != nil {
		t.Fatal(err)
	}
	offers := func(o *uiOptions) bool {
		t.Helper()
		all, err := o.catalogue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		entries := all.Entries()
		if len(entries) < 10 {
			t.Errorf("%d entries", len(entries))
		}
		return slices.ContainsFunc(entries, func(e catalog.Entry) bool {
			return e.Name == "hello" && len(e.Versions) > 0 && slices.ContainsFunc(e.Kinds, func(k catalog.Kind) bool { return strings.HasPrefix(k.Kind, "Greeting.") })
		})
	}
	o := uiOptionsOf(v)
	if offers(o) {
		t.Error("the embedded catalogue has hello")
	}
	further := &uiOptions{Common: o.Common, catalogues: catalogueOptions{Options: catalogs.Options{Addresses: []string{hello}}}}
	if !offers(further) {
		t.Error("what --catalog has is not offered")
	}
	o.Env.Getenv = func(name string) string {
		if name == catalogs.SettingsVariable {
			return settings
		}
		return ""
	}
	text := "apiVersion: sysop.dev/v1alpha1\nkind: Config\ncatalogs:\n- address: " + filepath.Join(t.TempDir(), "nothing") + "\n- address: " + hello + "\n"
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if !offers(o) {
		t.Error("what a catalogue of the settings has is not offered")
	}
	if got, want := further.catalogues.ShellFlags(), " --catalog='"+hello+"'"; got != want {
		t.Errorf("the commands have%s, want%s", got, want)
	}
}
