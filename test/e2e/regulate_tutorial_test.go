package e2e

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
)

// The tutorial of docs/regulation.md, command by command. What it asks of kubectl is played,
// and its manifest waits for a second where the example waits for ten.
func TestRegulateTutorial(t *testing.T) {
	c := shared.Cluster(t)
	text, err := os.ReadFile("../../docs/regulation.md")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		commands = append(commands, strings.Split(strings.TrimSpace(block[1]), "\n")...)
	}
	if len(commands) < 12 || commands[0] != "kubectl apply -f examples/system/objects.yaml" {
		t.Fatalf("commands %q", commands)
	}
	s := newShop(t, c) // which applies it
	before := s.images()
	for i, command := range commands[1:] {
		t.Log(command)
		if patch, ok := strings.CutPrefix(command, "kubectl patch "); ok {
			played(t, s, patch)
			continue
		}
		r := sysop(t, c.Kubeconfig, arguments(t, s, command)...).succeeds(t)
		switch {
		case strings.HasPrefix(command, "kubectl sysop regulate status"): // the second apply came after the windows
			cluster.Eventually(t, limit, func() error {
				sysop(t, c.Kubeconfig, arguments(t, s, commands[i])...).succeeds(t)
				return s.heldAll()
			})
		case strings.Contains(command, "--wait") && strings.Contains(command, "apply"), strings.HasPrefix(command, "kubectl sysop regulate recover"):
			if err := s.freeAll(before); err != nil {
				t.Errorf("%s: %v", command, err)
			}
		case strings.HasPrefix(command, "kubectl sysop regulate history"):
			if !strings.Contains(r.stdout, "Recover") || !strings.Contains(r.stdout, "Stop") {
				t.Errorf("%s:\n%s", command, r.stdout)
			}
		}
	}
	if err := s.freeAll(before); err != nil {
		t.Error(err)
	}
}

// arguments are those of a command of the tutorial, for the shop of the test.
func arguments(t *testing.T, s *shop, command string) []string {
	t.Helper()
	args, ok := strings.CutPrefix(command, "kubectl sysop ")
	if !ok {
		t.Fatalf("not a command of ours: %s", command)
	}
	return strings.Fields(strings.NewReplacer("examples/system/system.yaml", s.manifest, "-n shop", "-n "+s.ns, "-- kubectl sysop", "-- "+plugin).Replace(args))
}

// played does what a kubectl patch TYPE/NAME -n shop --type merge -p 'BODY' does.
func played(t *testing.T, s *shop, args string) {
	t.Helper()
	m := regexp.MustCompile(`^statefulset/(\w+) -n shop --type merge -p '(.*)'$`).FindStringSubmatch(args)
	if m == nil {
		t.Fatalf("cannot play kubectl patch %s", args)
	}
	s.patch("apps", "v1", "statefulsets", m[1], m[2])
}
