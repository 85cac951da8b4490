// Package manual makes a manual of a kind: what it is, who makes it, what it is
// made of, what it is related to, which fields are worth setting, and an example.
//
// The words of the package:
//
//   - Definition, what a CustomResourceDefinition says of its kind.
//   - Schema, the structural schema of a version, as maps and lists of JSON.
//   - Field, a place in an object by its path: spec.users[].name goes through a
//     list, spec.targets.*.name through the values of a map.
//   - Mark, what a definition carries of whoever installed it.
//   - Part, a kind of objects that instances are made of.
//
// It computes and does not fetch: what it is made of is handed to it.
package manual

// Manual is what is known of one kind.
type Manual struct {
	Resource      Resource       `json:"resource"`
	Operator      Operator       `json:"operator,omitzero"`
	Running       []Running      `json:"running"`
	Instances     Instances      `json:"instances,omitzero"`
	Composition   []Part         `json:"composition"`
	Relationships []Relationship `json:"relationships"`
	// Fields are those that were chosen; FieldsLeftOut counts the others.
	Fields        []Field  `json:"fields"`
	FieldsLeftOut int      `json:"fieldsLeftOut"`
	Columns       []Column `json:"columns"`
	Usage         Usage    `json:"usage,omitzero"`
	// Signals are how its operator is told to pause or to stop an object.
	Signals []Signal `json:"signals,omitempty"`
	Example Example  `json:"example,omitzero"`
	// Notes say what of this could not be told, and where else to look.
	Notes []string `json:"notes"`
}

// Resource is the kind as it is served, and what its definition says.
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
	// Definition is the name of the CustomResourceDefinition; empty where there is
	// none, or none that could be read.
	Definition  string    `json:"definition,omitempty"`
	Versions    []Version `json:"versions"`
	Description string    `json:"description,omitempty"`
}

// Version is one of the versions of a kind.
type Version struct {
	Name   string `json:"name"`
	Served bool   `json:"served"`
	// Stored says that objects are written in it; WasStored that some may still
	// lie there in it.
	Stored     bool   `json:"stored"`
	WasStored  bool   `json:"wasStored"`
	Deprecated bool   `json:"deprecated"`
	Warning    string `json:"warning,omitempty"`
}

// Operator is what the catalogue knows of who defines the kind.
type Operator struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Source      []string `json:"source"`
}

// Running is an operator that runs on this cluster.
type Running struct {
	// Workload is the id of the Deployment or StatefulSet; empty where only what
	// installed it is known.
	Workload string   `json:"workload,omitempty"`
	Images   []string `json:"images"`
	Version  string   `json:"version,omitempty"`
	// Evidence says how that is known.
	Evidence []string `json:"evidence"`
}

// Instances counts the objects of the kind.
type Instances struct {
	// Namespace is where was looked; empty for everywhere.
	Namespace string `json:"namespace,omitempty"`
	Count     int    `json:"count"`
	// Complete says that all of them could be read.
	Complete bool `json:"complete"`
}

// Part is a kind of objects that instances of the kind own, or are said to own.
type Part struct {
	// Kind is written Kind.group.
	Kind string `json:"kind"`
	// Declared says who declares it: the definition, the catalogue.
	Declared []string `json:"declared"`
	// Observed counts objects of it that instances own, as far as was looked.
	Observed int `json:"observed"`
	// Via is the kind by which instances own it where that is not directly.
	Via string `json:"via,omitempty"`
}

// Relationship is a rule that reads the kind, or points to it, seen from it.
type Relationship struct {
	// Relation is owns, needs or serves; Reversed that the others do so to the kind.
	Relation string `json:"relation"`
	Reversed bool   `json:"reversed"`
	// Kinds are at the other end, written Kind.group, or a word for what they are.
	Kinds []string `json:"kinds"`
	// Field is the path that says so, on the kind itself, or on the others where
	// OnOther is set.
	Field   string `json:"field"`
	OnOther bool   `json:"onOther"`
	// Origin says where the rule comes from; Rule is its name.
	Origin string `json:"origin"`
	Rule   string `json:"rule"`
}

// Column is what kubectl get shows of an object.
type Column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Path        string `json:"path"`
	Description string `json:"description,omitempty"`
	// Wide says that it is shown with -o wide only.
	Wide bool `json:"wide"`
}

// Usage is the text of the manual that the operator's author wrote.
type Usage struct {
	// ConfigMap is the id of the object that holds it, and Key its data key.
	ConfigMap string `json:"configMap"`
	Key       string `json:"key"`
	Text      string `json:"text,omitempty"`
	// Problem says why there is no text.
	Problem string `json:"problem,omitempty"`
}

// Signal is how an object is paused or stopped.
type Signal struct {
	Preset string `json:"preset"` // pause or stop
	Mode   string `json:"mode"`   // pause-reconcile, stop-workload, ...
	Writes string `json:"writes"` // spec.paused = true
	// AllowStop says that the manifest of a System must allow it.
	AllowStop bool   `json:"allowStop,omitempty"`
	Effect    string `json:"effect"`
	Caveat    string `json:"caveat,omitempty"`
	Source    string `json:"source"`
}

// Example is a manifest to start from.
type Example struct {
	// Origin says where it is from.
	Origin string `json:"origin"`
	// Manifest is YAML.
	Manifest string `json:"manifest"`
	// Notes say what is to be known before it is applied.
	Notes []string `json:"notes"`
}

// Draft is an example with its manifest as maps and lists.
type Draft struct {
	Example
	Object map[string]any
}
