package bundle

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/internal/fetch"
)

// Contents are what a bundle is made of.
type Contents struct {
	// System is the manifest, as it was written; empty for a bundle of operators.
	System []byte
	// Name is that of the System, or of the first operator.
	Name string
	// Packages are those that are installed, each entry once.
	Packages []Package
	// Images are those of the apps, as pod templates name them.
	Images []string
}

// Package is one version of an entry, with what its source names, fetched.
type Package struct {
	Entry   catalog.Entry
	Version *catalog.Version
	// Artifacts are the archive of its chart, or its manifests in their order; none where
	// they are inline.
	Artifacts []fetch.Artifact
	// Images are those of its rendered pod templates.
	Images []string
}

// Files are the files of a bundle: entries whose sources are by path with their digests, what
// they name, the list of images, the bill of materials. It is an error where the entries
// could not be read again.
func Files(c Contents) (map[string][]byte, error) {
	files := map[string][]byte{}
	if len(c.System) > 0 {
		files[System] = bytes.Clone(c.System)
	}
	var b bill
	for i := range c.Packages {
		if err := pack(&c.Packages[i], files, &b); err != nil {
			return nil, fmt.Errorf("bundle %s: %w", c.Packages[i].Entry.Name, err)
		}
	}
	images := c.images()
	files[Images] = []byte(strings.Join(append(slices.Clone(images), ""), "\n"))
	var err error
	if files[SBOM], err = b.write(c, images); err != nil {
		return nil, err
	}
	if len(c.Packages) == 0 {
		return files, nil
	}
	if err := readable(files); err != nil {
		return nil, err
	}
	return files, nil
}

const entriesDir = Entries + "/"

// pack writes an entry with the one version, and what its source names.
func pack(p *Package, files map[string][]byte, b *bill) error {
	e, v := p.Entry, *p.Version
	at := e.Name + "-" + v.Version
	switch {
	case v.Source.Chart != nil:
		if len(p.Artifacts) != 1 {
			return fmt.Errorf("its chart is %d files", len(p.Artifacts))
		}
		source, data := *v.Source.Chart, p.Artifacts[0].Data
		b.chart(p, &source)
		source.Repository, source.OCI = "", ""
		source.Path, source.Digest = "charts/"+at+".tgz", fetch.Digest(data)
		files[entriesDir+source.Path] = data
		v.Source = catalog.Source{Chart: &source}
	case len(v.Source.Manifests) > 0:
		if len(p.Artifacts) != len(v.Source.Manifests) {
			return fmt.Errorf("it has %d of its %d manifest files", len(p.Artifacts), len(v.Source.Manifests))
		}
		var local []catalog.ManifestSource
		for i, a := range p.Artifacts {
			path := fmt.Sprintf("manifests/%s/%02d.yaml", at, i)
			b.manifest(p, v.Source.Manifests[i], a)
			files[entriesDir+path] = a.Data
			local = append(local, catalog.ManifestSource{Path: path, SHA256: strings.TrimPrefix(fetch.Digest(a.Data), "sha256:")})
		}
		v.Source = catalog.Source{Manifests: local}
	default:
		b.inline(p)
	}
	e.Versions = []catalog.Version{v}
	text, err := e.YAML()
	if err != nil {
		return err
	}
	name := entriesDir + e.Name + ".yaml"
	if files[name] != nil {
		return fmt.Errorf("two versions of it: a bundle has one")
	}
	files[name] = text
	return nil
}

// readable checks that the entries are those of a catalog.
func readable(files map[string][]byte) error {
	packed, err := fetch.Pack(files)
	if err != nil {
		return err
	}
	tree, err := fetch.Unpack(packed, fetch.Limits{})
	if err != nil {
		return err
	}
	_, problems, err := catalog.Load(tree, "the bundle")
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("the bundle could not be read again: %s", problems[0])
	}
	return nil
}

// images are all that are run, each once: with its digest where the catalog has it.
func (c *Contents) images() []string {
	pinned := map[string]string{}
	all := map[string]bool{}
	add := func(image string) {
		if image = strings.TrimSpace(image); image == "" || strings.ContainsAny(image, " \t\n\r") {
			return
		}
		all[image] = true
		if tagged, _, ok := strings.Cut(image, "@"); ok && pinned[tagged] == "" {
			pinned[tagged] = image
		}
	}
	for i := range c.Packages {
		for _, image := range c.Packages[i].Version.Images {
			add(image.Image)
		}
		for _, image := range c.Packages[i].Images {
			add(image)
		}
	}
	for _, image := range c.Images {
		add(image)
	}
	maps.DeleteFunc(all, func(image string, _ bool) bool { return pinned[image] != "" })
	return slices.Sorted(maps.Keys(all))
}
