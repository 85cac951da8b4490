package systems

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

// noReport drops the messages that are not part of a result.
type noReport struct{}

func (noReport) Gaps([]object.Gap) {}
func (noReport) Warn(string)       {}
func (noReport) Note(string)       {}
func (noReport) Progress(string)   {}
func (noReport) Timings(string)    {}

func demo() *app.Input {
	now := func() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) }
	return &app.Input{
		Config: genericclioptions.NewConfigFlags(false), From: "demo", Demo: demotest.FS(), Stdin: strings.NewReader(""),
		Now: now, Clock: app.NewStopwatch(now), Report: noReport{},
	}
}

// TestDraftValidates: the manifest of a draft is one that names what exists in its source, and only
// that.
func TestDraftValidates(t *testing.T) {
	in := demo()
	m, err := Draft(t.Context(), DraftRequest{Input: in, Roots: []string{"moodle/moodle-1", "mysqlcluster/cluster1"}, Name: "lms"})
	if err != nil || m.Name != "lms" || m.Apps != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	manifest := func(text string) *app.Input {
		in := demo()
		in.Stdin = strings.NewReader(text)
		return in
	}
	request := ValidateRequest{File: "-", Catalogue: catalog.Embedded()}
	got, err := Validate(t.Context(), manifest(string(m.Text)), request)
	if err != nil || len(got.Problems) != 0 || got.System != "lms" || len(got.Apps) != 2 {
		t.Errorf("of the draft: %+v, %v", got, err)
	}
	wrong := strings.ReplaceAll(string(m.Text), "/moodle-1", "/moodle-7")
	got, err = Validate(t.Context(), manifest(wrong), request)
	if err != nil || len(got.Problems) != 1 || !strings.Contains(got.Problems[0].Message, `there is no moodle.moodlecontroller.kubeplus/moodle-7`) {
		t.Errorf("of an app that does not exist: %+v, %v", got, err)
	}
	request.Offline = true
	if got, err = Validate(t.Context(), manifest(wrong), request); err != nil || len(got.Problems) != 0 {
		t.Errorf("offline: %+v, %v", got, err)
	}
}

// TestExportWritesNoSecret: an export names the Secrets that it needs as inputs, and the operators
// of its custom resources.
func TestExportWritesNoSecret(t *testing.T) {
	m, err := Export(t.Context(), ExportRequest{DraftRequest: DraftRequest{Input: demo(), Roots: []string{"moodle/moodle-1"}}, Catalogue: catalog.Embedded()})
	if err != nil || m.Apps != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	s, problems := system.Parse("export", m.Text)
	if len(problems) > 0 || len(s.Inputs) != m.Inputs || m.Inputs == 0 {
		t.Fatalf("%v: %+v", problems, s)
	}
	for _, o := range s.Apps[0].Resources {
		if o.GetKind() == "Secret" {
			t.Errorf("it includes %s", o.GetName())
		}
	}
}

// TestList: a snapshot shows which Systems were adopted, and holds no manifest of them.
func TestList(t *testing.T) {
	in := demo()
	in.AllNamespaces = true
	all, err := List(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Name == "" || len(s.Members) == 0 || s.Apps != nil || s.Wrong != "" {
			t.Errorf("%+v", s)
		}
	}
	if _, err := Named(t.Context(), in, "shop"); err == nil || !strings.Contains(err.Error(), "a snapshot holds no manifests") {
		t.Errorf("a manifest of a snapshot: %v", err)
	}
}

// TestQuery: the roots of a System are those of its apps, in its namespace.
func TestQuery(t *testing.T) {
	in := demo()
	q := Query{Name: Demo}
	roots, err := q.Read(t.Context(), in, nil)
	if err != nil || len(roots) == 0 || len(roots) != len(q.Apps) || *in.Config.Namespace != q.System.Namespace {
		t.Fatalf("%v, %+v, %v", roots, q, err)
	}
	if _, err := q.Read(t.Context(), in, []string{"deployment/web"}); err == nil {
		t.Error("a root beside those of a System")
	}
	other := "other"
	in.Config.Namespace = &other
	if _, err := q.Read(t.Context(), in, nil); err == nil || !strings.Contains(err.Error(), "-n other") {
		t.Errorf("another namespace: %v", err)
	}
}

// TestChangeCounts: what is already as it should be, or not a member, is not written.
func TestChangeCounts(t *testing.T) {
	c := &Change{}
	for _, change := range []system.MemberAction{system.Update, system.AddLabel, system.Nothing, system.RemoveLabel, system.NotAMember, system.Delete} {
		c.Steps = append(c.Steps, system.Step{Change: change})
	}
	if c.Count() != 4 {
		t.Errorf("%d objects", c.Count())
	}
}

// TestEach: every call is made, and the errors come in the order of the things.
func TestEach(t *testing.T) {
	var things []int
	for i := range 3 * atOnce {
		things = append(things, i)
	}
	wrong := []error{errors.New("one"), errors.New("two")}
	errs := each(things, func(i int) error {
		switch i {
		case 2:
			return wrong[0]
		case 20:
			return wrong[1]
		}
		return nil
	})
	if !slices.Equal(errs, wrong) {
		t.Errorf("%v", errs)
	}
}
