package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/command"
	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
)

func regulateSignals(t *testing.T, args ...string) (out, talk string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	env := command.Env{
		IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &o, ErrOut: &e},
		Getenv:    func(string) string { return "" }, Demo: demotest.FS(), Now: func() time.Time { return time.Time{} },
	}
	cmd := New(env)
	cmd.SetArgs(append([]string{"regulate", "signals"}, args...))
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return o.String(), e.String(), err
}

// TestRegulateSignals: of a snapshot there are the kinds that it has, with --all everything,
// and of a kind its own.
func TestRegulateSignals(t *testing.T) {
	for _, c := range []struct {
		args      string
		has, not  []string
		talk, err string
	}{
		{args: "--from demo", has: []string{"Deployment.apps ", "MysqlCluster.mysql.presslabs.org ", "(stop) ", "scale: spec.replicas = 0", "\n* "}, not: []string{"Kafka", "*.kro.run"}},
		{args: "deployment --from demo", has: []string{"Deployment.apps ", "pause", "spec.paused = true"}, not: []string{"StatefulSet", "*"}},
		{args: "mysqlcluster -o wide --from demo", has: []string{"allowStop", "bitpoke/mysql-operator@37c64109", "softer way"}, not: []string{"Deployment"}},
		{args: "--all", has: []string{"Kafka.kafka.strimzi.io ", "*.kro.run", "*.*.crossplane.io", `spec.stop = "yes"`, "the names of its pods", "spec.componentSpecs[].stop = true", "or spec.running = false where spec.running is set"}},
		{args: "--all kafka", has: []string{"Kafka.kafka.strimzi.io "}, not: []string{"KafkaBridge"}},
		{args: "--all Machine.cluster.x-k8s.io", has: []string{"*.cluster.x-k8s.io "}, not: []string{"Kafka", "*.*.cluster"}},
		{args: "--all prometheus -o name", has: []string{"Prometheus.monitoring.coreos.com\n"}, not: []string{"PRESET"}},
		{args: "secret --from demo", not: []string{"pause"}, talk: "no signal is known for secret: use an action patch, annotate or scale (--all"},
		{args: "--all nothing", not: []string{"pause"}, talk: "no signal is known for nothing: "},
		{args: "--all --from demo", err: "--all reads no cluster and no snapshot"},
		{args: "moodl --from demo", err: `unknown kind "moodl" (did you mean moodle?)`},
		{args: "--all -o tree", err: `unknown output format "tree"`},
	} {
		out, talk, err := regulateSignals(t, strings.Fields(c.args)...)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v, want %s", c.args, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
		for _, has := range c.has {
			if !strings.Contains(out, has) {
				t.Errorf("%s: no %q in\n%s", c.args, has, out)
			}
		}
		for _, not := range c.not {
			if strings.Contains(out, not) {
				t.Errorf("%s: %q is in\n%s", c.args, not, out)
			}
		}
		if !strings.HasPrefix(talk, c.talk) || c.talk == "" && talk != "" {
			t.Errorf("%s: says %q, want %q", c.args, talk, c.talk)
		}
	}
}

// TestRegulateSignalsDocument: what is written for programs is as the schema says.
func TestRegulateSignalsDocument(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/schema/signals.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"--all -o json", "--all -o yaml", "--from demo -o json", "secret --from demo -o yaml"} {
		out, _, err := regulateSignals(t, strings.Fields(args)...)
		if err != nil {
			t.Fatal(err)
		}
		text, err := yaml.YAMLToJSON([]byte(out))
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestRegulateSignalsExamples runs the examples of the help, as they stand there.
func TestRegulateSignalsExamples(t *testing.T) {
	signals, _, err := New(command.Env{Now: time.Now}).Find([]string{"regulate", "signals"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(signals.Example) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "kubectl sysop regulate signals")
		if !ok {
			continue
		}
		n++
		if out, _, err := regulateSignals(t, strings.Fields(args)...); err != nil || out == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
	if n < 4 {
		t.Errorf("%d examples", n)
	}
}
