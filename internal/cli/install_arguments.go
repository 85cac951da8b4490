package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// arguments is a digest of what was asked for: a run that was interrupted is continued only by
// the same. How it is done (how long it may take, whether it asks, how it is shown) is no part
// of that. The digest alone is kept: values may be secret.
func (p *installPlan) arguments() string {
	type named struct{ Name, Version string }
	o := p.o
	all := struct {
		Action, Manifest, Bundle, ImageRegistry, Key, Keyring string
		Targets                                               []named
		Catalogues                                            []string
		Values                                                map[string]any
		TakeOwnership, NoAnnotate, Lookup, Wait, Force, Reset bool
		Unverified, PlainHTTP                                 bool
	}{
		Action: string(o.action), Manifest: p.text, Bundle: o.bundle, ImageRegistry: o.imageRegistry, Key: o.key, Keyring: o.keyring,
		Catalogues: o.catalogs, Values: p.values,
		TakeOwnership: o.takeOwnership, NoAnnotate: o.noAnnotate, Lookup: o.lookup, Wait: o.wait, Force: o.force, Reset: o.resetValues,
		Unverified: o.unverified, PlainHTTP: o.plainHTTP,
	}
	for _, t := range p.targets {
		all.Targets = append(all.Targets, named{t.name, t.version})
	}
	return digestOf(all)
}

// digestOf is a digest of arguments.
func digestOf(all any) string {
	text, err := json.Marshal(all)
	if err != nil {
		text = []byte(err.Error()) // values come from YAML; what is none equals nothing
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
