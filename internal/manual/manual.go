// Package manual generates a manual of a kind: what it is, who makes it, its parts, its
// relationships, the most useful fields, and an example.
//
// The terms of the package:
//
//   - Definition, the CustomResourceDefinition of the kind.
//   - Schema, the structural schema of a version, as maps and lists of JSON.
//   - Field, a path in an object: spec.users[].name goes through a list, spec.targets.*.name
//     through the values of a map.
//   - Mark, a label of a definition that identifies its installer.
//   - Part, a kind of objects that instances consist of.
//
// It does no I/O: the caller passes all inputs.
package manual

// Manual describes one kind.
type Manual struct {
	Resource      Resource       `json:"resource"`
	Operator      Operator       `json:"operator,omitzero"`
	Running       []Running      `json:"running"`
	Instances     Instances      `json:"instances,omitzero"`
	Composition   []Part         `json:"composition"`
	Relationships []Relationship `json:"relationships"`
	// Fields are the selected ones; FieldsLeftOut counts the others.
	Fields        []Field  `json:"fields"`
	FieldsLeftOut int      `json:"fieldsLeftOut"`
	Columns       []Column `json:"columns"`
	Usage         Usage    `json:"usage,omitzero"`
	// Signals are the ways to pause or stop an object through its operator.
	Signals []Signal `json:"signals,omitempty"`
	Example Example  `json:"example,omitzero"`
	// Notes list what is unknown, and where else to look it up.
	Notes []string `json:"notes"`
}

// Resource is the kind as it is served, with its definition.
type Resource struct {
	Kind       string   `json:"kind"`
	Group      string   `json:"group,omitempty"`
	Version    string   `json:"version"` // the one that is described
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular,omitempty"`
	ShortNames []string `json:"shortNames"`
	Categories []string `json:"categories"`
	Namespaced bool     `json:"namespaced"`
	Custom     bool     `json:"custom"`
	// Definition is the name of the CustomResourceDefinition; empty if there is none, or it is
	// unread.
	Definition  string    `json:"definition,omitempty"`
	Versions    []Version `json:"versions"`
	Description string    `json:"description,omitempty"`
}

// Version is one of the versions of a kind.
type Version struct {
	Name   string `json:"name"`
	Served bool   `json:"served"`
	// Stored is set for the storage version; WasStored if some objects may still be stored in it.
	Stored     bool   `json:"stored"`
	WasStored  bool   `json:"wasStored"`
	Deprecated bool   `json:"deprecated"`
	Warning    string `json:"warning,omitempty"`
}

// Operator is the catalog's description of the operator that defines the kind.
type Operator struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Source      []string `json:"source"`
}

// Running is an operator that runs on this cluster.
type Running struct {
	// Workload is the id of the Deployment or StatefulSet; empty if only the installer is known.
	Workload string   `json:"workload,omitempty"`
	Images   []string `json:"images"`
	Version  string   `json:"version,omitempty"`
	// Evidence lists the reasons.
	Evidence []string `json:"evidence"`
}

// Instances counts the objects of the kind.
type Instances struct {
	// Namespace is where they were counted; empty for all.
	Namespace string `json:"namespace,omitempty"`
	Count     int    `json:"count"`
	// Complete is set if all of them could be read.
	Complete bool `json:"complete"`
}

// Part is a kind of objects that instances own, or are declared to own.
type Part struct {
	// Kind is written Kind.group.
	Kind string `json:"kind"`
	// Declared lists the sources: the definition, the catalog.
	Declared []string `json:"declared"`
	// Observed counts its objects that instances own, among those that were read.
	Observed int `json:"observed"`
	// Via is the kind through which instances own it indirectly.
	Via string `json:"via,omitempty"`
}

// Relationship is a rule that reads the kind, or refers to it, from the kind's point of view.
type Relationship struct {
	// Relation is owns, needs or serves; Reversed is set if it runs from the others to the kind.
	Relation string `json:"relation"`
	Reversed bool   `json:"reversed"`
	// Kinds are at the other end, written Kind.group, or a word for them.
	Kinds []string `json:"kinds"`
	// Field is the path of the evidence, in the kind itself, or in the others if OnOther is set.
	Field   string `json:"field"`
	OnOther bool   `json:"onOther"`
	// Origin is the source of the rule; Rule is its name.
	Origin string `json:"origin"`
	Rule   string `json:"rule"`
}

// Column is a printer column of kubectl get.
type Column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Path        string `json:"path"`
	Description string `json:"description,omitempty"`
	// Wide is set if it is shown with -o wide only.
	Wide bool `json:"wide"`
}

// Usage is the manual that the operator's author wrote.
type Usage struct {
	// ConfigMap is the id of the object that contains it, and Key its data key.
	ConfigMap string `json:"configMap"`
	Key       string `json:"key"`
	Text      string `json:"text,omitempty"`
	// Problem is why there is no text.
	Problem string `json:"problem,omitempty"`
}

// Signal is a way to pause or stop an object.
type Signal struct {
	Preset string `json:"preset"` // pause or stop
	Mode   string `json:"mode"`   // pause-reconcile, stop-workload, ...
	Writes string `json:"writes"` // spec.paused = true
	// AllowStop is set if the manifest of a System must allow it.
	AllowStop bool   `json:"allowStop,omitempty"`
	Effect    string `json:"effect"`
	Caveat    string `json:"caveat,omitempty"`
	Source    string `json:"source"`
}

// Example is a manifest to start from.
type Example struct {
	// Origin is its source.
	Origin string `json:"origin"`
	// Manifest is YAML.
	Manifest string `json:"manifest"`
	// Notes are to be read before it is applied.
	Notes []string `json:"notes"`
}

// Draft is an example with its manifest as maps and lists.
type Draft struct {
	Example
	Object map[string]any
}
