package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/kubectl-sysop/kubectl-sysop/internal/connection"
)

// fingerprint hashes the desired state, with sorted map keys. Two inputs are excluded, because they
// are not desired state: the parts of an uninstallation, which become fewer while it runs, and
// those of a rollback, which follow from its target.
func fingerprint(action Action, in Installation, parts []*Part, o PlanOptions) string {
	type wanted struct {
		Name, Release, Namespace, Version, Digest string

		App, Keep   bool
		Values      map[string]any
		Connections []connection.Connection
	}
	all := struct {
		Action                  Action
		Installation            Installation
		Parts                   []wanted
		To                      []ReleaseState
		Take, Definitions, Data bool
		Arguments               string
	}{Action: action, Installation: in, To: o.To, Take: o.TakeOwnership, Definitions: o.DeleteDefinitions, Data: o.DeleteData, Arguments: o.Arguments}
	if action == Uninstall || action == Rollback {
		parts = nil
	}
	for _, p := range parts {
		w := wanted{Name: p.Name, Release: p.Release, Namespace: p.Namespace, Version: p.Version, App: p.App, Keep: p.KeepDefinitions, Values: p.Values, Connections: p.Connections}
		if p.Chart != nil {
			w.Digest = p.Chart.Digest
		}
		all.Parts = append(all.Parts, w)
	}
	text, err := json.Marshal(all)
	if err != nil {
		// Values come from YAML or JSON; anything else has no hash, and equals nothing.
		text = []byte(err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
