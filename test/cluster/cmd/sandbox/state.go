package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/supervise"
)

// validName matches safe directory names.
const validName = `^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`

// sandbox is a sandbox with its directory, running or not.
type sandbox struct{ name, dir string }

// state is what a running sandbox stores for later commands. It is written when the cluster is
// ready.
type state struct {
	Owner      supervise.Identity  `json:"owner"` // the detached process
	Kubeconfig string              `json:"kubeconfig"`
	Processes  []supervise.Process `json:"processes"`
}

func find(name string) (sandbox, error) {
	if !regexp.MustCompile(validName).MatchString(name) {
		return sandbox{}, fmt.Errorf("invalid name %q: want lower-case letters, digits and dashes", name)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return sandbox{}, fmt.Errorf("find the cache directory: %w", err)
	}
	return sandbox{name, filepath.Join(cache, "kubectl-sysop", "sandbox", name)}, nil
}

func (s sandbox) path(name string) string { return filepath.Join(s.dir, name) }

// running reads the state of a sandbox that runs; false if it does not.
func (s sandbox) running() (state, bool, error) {
	b, err := os.ReadFile(s.path("state.json"))
	if errors.Is(err, os.ErrNotExist) {
		return state{}, false, nil
	}
	var st state
	if err == nil {
		err = json.Unmarshal(b, &st)
	}
	if err != nil {
		return state{}, false, fmt.Errorf("read the state of sandbox %s: %w", s.name, err)
	}
	return st, st.Owner.Alive(), nil
}

// save writes the state as a whole or not at all.
func (s sandbox) save(st state) error {
	b, err := json.MarshalIndent(st, "", "  ")
	if err != nil {
		return fmt.Errorf("write the state of sandbox %s: %w", s.name, err)
	}
	tmp := s.path("state.json.new")
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return fmt.Errorf("write the state of sandbox %s: %w", s.name, err)
	}
	if err := os.Rename(tmp, s.path("state.json")); err != nil {
		return fmt.Errorf("write the state of sandbox %s: %w", s.name, err)
	}
	return nil
}
