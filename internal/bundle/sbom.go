package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

// bom is a bill of materials, CycloneDX 1.6 as JSON (https://cyclonedx.org/docs/1.6/json/),
// as far as it is written here. It has no time, so that the same input gives the same bytes.
type bom struct {
	Format       string         `json:"bomFormat"`
	SpecVersion  string         `json:"specVersion"`
	SerialNumber string         `json:"serialNumber"`
	Version      int            `json:"version"`
	Metadata     bomMetadata    `json:"metadata"`
	Components   []component    `json:"components"`
	Dependencies []dependencies `json:"dependencies"`
}

type bomMetadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
	PURL    string `json:"purl,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type dependencies struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

// bill collects the components.
type bill struct {
	components []component
	// needs are the images of a component, by its reference.
	needs map[string][]string
}

func (b *bill) add(p *Package, c component) {
	b.components = append(b.components, c)
	if b.needs == nil {
		b.needs = map[string][]string{}
	}
	b.needs[c.Ref] = p.Images
}

// chart is a component of the source that was, and of the archive that is carried along.
func (b *bill) chart(p *Package, s *catalog.ChartSource) {
	name, version := cmp.Or(s.Name, p.Entry.Name), cmp.Or(s.Version, p.Version.Version)
	c := component{Type: "application", Ref: "chart:" + p.Entry.Name, Name: name, Version: version, Hashes: sha256(p.Artifacts[0].Data)}
	switch {
	case s.OCI != "":
		at := strings.TrimPrefix(s.OCI, "oci://")
		c.PURL = purl("oci", at[strings.LastIndex(at, "/")+1:], s.Digest, "repository_url", at, "tag", version)
	case s.Repository != "":
		c.PURL = purl("helm", name, version, "repository_url", s.Repository)
	default:
		c.PURL = purl("helm", name, version)
	}
	b.add(p, c)
}

func (b *bill) manifest(p *Package, s catalog.ManifestSource, a fetch.Artifact) {
	name := cmp.Or(s.URL, s.Path)
	c := component{Type: "file", Ref: "manifest:" + p.Entry.Name + ":" + name, Name: name, Version: p.Version.Version, Hashes: sha256(a.Data)}
	c.PURL = purl("generic", p.Entry.Name, p.Version.Version, "checksum", fetch.Digest(a.Data), "download_url", s.URL)
	b.add(p, c)
}

func (b *bill) inline(p *Package) {
	b.add(p, component{
		Type: "file", Ref: "inline:" + p.Entry.Name, Name: p.Entry.Name, Version: p.Version.Version,
		Hashes: sha256([]byte(p.Version.Source.Inline)), PURL: purl("generic", p.Entry.Name, p.Version.Version),
	})
}

func (b *bill) write(c Contents, images []string) ([]byte, error) {
	root := component{Type: "application", Ref: "system", Name: cmp.Or(c.Name, "system")}
	if len(c.System) > 0 {
		root.Hashes = sha256(c.System)
	}
	refs := map[string]string{} // of images as pods name them
	for _, image := range images {
		i := imageComponent(image)
		b.components = append(b.components, i)
		tagged, _, _ := strings.Cut(image, "@")
		refs[image], refs[tagged] = i.Ref, i.Ref
	}
	slices.SortStableFunc(b.components, func(x, y component) int { return cmp.Compare(x.Ref, y.Ref) })
	refsOf := func(images []string) []string {
		var out []string
		for _, image := range images {
			if ref := refs[image]; ref != "" {
				out = append(out, ref)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	top := refsOf(c.Images)
	var rest []dependencies
	for _, component := range b.components {
		if component.Type != "container" {
			top = append(top, component.Ref)
		}
		rest = append(rest, dependencies{component.Ref, refsOf(b.needs[component.Ref])})
	}
	slices.Sort(top)
	out := bom{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: bomMetadata{root}, Components: b.components,
		Dependencies: append([]dependencies{{root.Ref, slices.Compact(top)}}, rest...),
	}
	if out.Components == nil {
		out.Components = []component{}
	}
	// The serial number is of the content: the same bill has the same one (RFC 9562, version 8).
	plain, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	out.SerialNumber = serial(plain)
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(out); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

func serial(content []byte) string {
	digits := []byte(strings.TrimPrefix(fetch.Digest(content), "sha256:"))[:32]
	digits[12] = '8'
	digits[16] = "89ab"[digits[16]%4]
	d := string(digits)
	return fmt.Sprintf("urn:uuid:%s-%s-%s-%s-%s", d[:8], d[8:12], d[12:16], d[16:20], d[20:])
}

func imageComponent(image string) component {
	tagged, digest, _ := strings.Cut(image, "@")
	repository, tag := tagged, ""
	if at := strings.LastIndex(tagged, ":"); at > strings.LastIndex(tagged, "/") {
		repository, tag = tagged[:at], tagged[at+1:]
	}
	c := component{Type: "container", Ref: "image:" + image, Name: repository, Version: cmp.Or(tag, digest)}
	if hex, ok := strings.CutPrefix(digest, "sha256:"); ok && len(hex) == 64 {
		c.Hashes = []hash{{"SHA-256", hex}}
	}
	c.PURL = purl("oci", repository[strings.LastIndex(repository, "/")+1:], digest, "repository_url", hosted(repository), "tag", tag)
	return c
}

// hosted is a repository with its host, as container tools complete it.
func hosted(repository string) string {
	host, _, ok := strings.Cut(repository, "/")
	switch {
	case !ok:
		return "docker.io/library/" + repository
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		return "docker.io/" + repository
	}
	return repository
}

func sha256(data []byte) []hash {
	return []hash{{"SHA-256", strings.TrimPrefix(fetch.Digest(data), "sha256:")}}
}

// purl is a package URL (https://github.com/package-url/purl-spec): qualifiers in the order of
// their names, those without a value left out.
func purl(kind, name, version string, qualifiers ...string) string {
	var text strings.Builder
	text.WriteString("pkg:" + kind + "/" + url.PathEscape(strings.ToLower(name)))
	if version != "" {
		text.WriteString("@" + strings.ReplaceAll(url.PathEscape(version), ":", "%3A"))
	}
	separator := "?"
	for i := 0; i+1 < len(qualifiers); i += 2 {
		if qualifiers[i+1] != "" {
			text.WriteString(separator + qualifiers[i] + "=" + url.QueryEscape(qualifiers[i+1]))
			separator = "&"
		}
	}
	return text.String()
}
