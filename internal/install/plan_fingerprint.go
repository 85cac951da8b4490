package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// fingerprint is a hash over what is wanted. Maps are written in the order of their keys. The parts
// of an uninstallation are those that are there, fewer the further it is, and those of a rollback
// follow from what it goes back to: they say nothing of what is wanted.
func fingerprint(action Action, in Installation, parts []*Part, o PlanOptions) string {
	type wanted struct {
		Name, Release, Namespace, Version, Digest string

		App, Keep   bool
		Values      map[string]any
		Connections []Connection
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
		// Values come from YAML or JSON; what is none cannot be hashed, and equals nothing.
		text = []byte(err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
