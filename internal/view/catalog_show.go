package view

import (
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/solve"
)

// CatalogEntryDocument is an entry, as it can be installed (docs/schema/catalog-show.json).
type CatalogEntryDocument struct {
	Head        `json:",inline"`
	Name        string                `json:"name"`
	Title       string                `json:"title"`
	Description string                `json:"description"`
	Origin      string                `json:"origin"`
	Source      []string              `json:"source"`
	Kinds       []CatalogKindDocument `json:"kinds"`
	Versions    []catalog.Version     `json:"versions"`
}

// CatalogKindDocument is a kind of an entry, without its rules of health and signals.
type CatalogKindDocument struct {
	Kind          string   `json:"kind"`
	Plural        string   `json:"plural,omitempty"`
	Versions      []string `json:"versions"`
	ClusterScoped bool     `json:"clusterScoped,omitempty"`
	Composes      []string `json:"composes,omitempty"`
}

// CatalogEntry returns the answer of catalog show. version chooses one that is shown at
// length; nil for the newest.
func CatalogEntry(r CatalogRow, v *catalog.Version) Output {
	e := &r.Entry
	doc := CatalogEntryDocument{
		Head: HeadOf("CatalogEntry"), Name: e.Name, Title: e.Title, Description: e.Description, Origin: r.Origin,
		Source: e.Source, Versions: e.Versions,
	}
	for _, k := range e.Kinds {
		doc.Kinds = append(doc.Kinds, CatalogKindDocument{k.Kind, k.Plural, k.Versions, k.ClusterScoped, k.Composes})
	}
	kinds := ColumnsOf[CatalogKindDocument]{
		{Column: Column{Name: "KIND"}, Value: AsText(func(k CatalogKindDocument) string { return k.Kind })},
		{Column: Column{Name: "VERSIONS"}, Value: AsText(func(k CatalogKindDocument) string { return strings.Join(k.Versions, ", ") })},
		{Column: Column{Name: "CREATES", Truncate: End, MinWidth: LeastWhy}, Value: AsFaint(func(k CatalogKindDocument) string { return strings.Join(k.Composes, ", ") })},
	}.Table(doc.Kinds)
	versions := versionNames(e)
	page := &Page{Sections: []Section{{Title: "NAME", Blocks: append([]Block{{Text: e.Title + " - " + e.Description}},
		PairsOf("Entry", e.Name, "Catalog", r.Origin, "Versions", strings.Join(versions, ", "), "Published", strings.Join(e.Source, ", "))...)}}}
	if v != nil {
		page.Sections = append(page.Sections, versionSection(e, v))
	}
	if len(kinds.Rows) > 0 {
		page.Sections = append(page.Sections, Section{Title: "KINDS", Blocks: []Block{{Table: kinds}}})
	}
	if v != nil && len(v.Examples) > 0 {
		s := Section{Title: "EXAMPLE"}
		for _, text := range v.Examples {
			s.Blocks = append(s.Blocks, Block{Verbatim: strings.TrimRight(text, "\n")})
		}
		page.Sections = append(page.Sections, s)
	}
	return Output{Page: page, Document: doc, Names: versions}
}

// versionSection is how a version is installed.
func versionSection(e *catalog.Entry, v *catalog.Version) Section {
	var needs, images, ready []string
	for _, r := range v.Requires {
		needs = append(needs, requirementWords(r))
	}
	for _, i := range v.Images {
		images = append(images, i.Image)
	}
	for _, w := range v.Ready {
		ready = append(ready, w.Kind+"/"+w.Name)
	}
	policy := string(v.Definitions)
	if policy == "" {
		policy = string(catalog.Upgrade)
	}
	return Section{Title: "VERSION " + v.Version, Blocks: PairsOf(
		"From", sourceWords(&v.Source), "Verified by", pinWords(&v.Source), "Namespace", v.Namespace, "Kubernetes", v.Kubernetes,
		"Needs", strings.Join(needs, "; "), "Definitions", policy, "Ready", strings.Join(ready, ", "),
		"Images", strings.Join(images, ", "), "Install", "kubectl sysop install "+e.Name+"@"+v.Version,
	)}
}

func requirementWords(r solve.Requirement) string {
	text := r.API.String()
	if r.Package != "" {
		text = strings.TrimSpace(r.Package + " " + r.Range)
	}
	if r.Optional {
		text += " (optional)"
	}
	return text
}

func sourceWords(s *catalog.Source) string {
	switch c := s.Chart; {
	case c != nil && c.Repository != "":
		return "chart " + c.Name + " " + c.Version + " of " + c.Repository
	case c != nil && c.OCI != "":
		return "chart " + c.OCI + ":" + c.Version
	case c != nil:
		return "chart " + c.Path
	}
	var all []string
	for _, m := range s.Manifests {
		all = append(all, m.URL+m.Path)
	}
	if len(all) == 0 {
		return "manifests in the catalog"
	}
	return "manifests " + strings.Join(all, ", ")
}

// pinWords says what content is expected.
func pinWords(s *catalog.Source) string {
	const nothing = "no digest in the catalog (--unverified takes it anyway)"
	if c := s.Chart; c != nil {
		if c.Digest == "" && c.Path == "" {
			return nothing
		}
		return c.Digest
	}
	var all []string
	for _, m := range s.Manifests {
		switch {
		case m.SHA256 != "":
			all = append(all, "sha256:"+m.SHA256)
		case m.URL != "":
			return nothing
		}
	}
	return strings.Join(all, ", ")
}
