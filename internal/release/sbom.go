package release

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"

	"github.com/kubectl-sysop/kubectl-sysop/internal/suite"
)

// BillName returns the file name of the bill of materials of a version for a platform.
func BillName(s suite.Suite, version string, p suite.Platform) string {
	return fmt.Sprintf("%s_%s_%s_%s.cdx.json", s.Binary, version, p.OS, p.Arch)
}

// Names of properties for which CycloneDX has no field. The sum of go.sum covers a list of files,
// and so is no component hash.
const (
	propertySum   = "sysop.dev:go:sum"
	propertyNPM   = "sysop.dev:npm:integrity"
	propertyBuild = "sysop.dev:go:build:"
)

// writeBill returns the bill of materials of a binary, CycloneDX 1.6: the binary, every module in
// it, their dependencies and licences. The same binary has the same bill: its time is that of the
// release, and its serial number depends on the content.
func writeBill(o Options, p suite.Platform, b binary, all []Licensed) ([]byte, error) {
	main := mainComponent(o, p, b)
	refs := map[string]string{"": main.BOMRef}
	var components []cdx.Component
	var bundles []string
	for _, l := range all {
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: l.Module, Version: l.Version, Licenses: licences(l.Expression())}
		property := propertySum
		if name, ok := strings.CutPrefix(l.Module, npm); ok {
			c.Name, property = name, propertyNPM
			c.PackageURL = "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + l.Version
			bundles = append(bundles, l.Module)
		} else {
			c.PackageURL = purl(l.Module, strings.TrimPrefix(l.Version, "go"))
		}
		c.BOMRef = c.PackageURL
		if l.Sum != "" {
			c.Properties = &[]cdx.Property{{Name: property, Value: l.Sum}}
		}
		refs[l.Module] = c.BOMRef
		components = append(components, c)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: o.Epoch.UTC().Format("2006-01-02T15:04:05Z"), Component: &main}
	bom.Components = &components
	bom.Dependencies = dependencies(b, bundles, refs)
	text, err := encode(bom)
	if err != nil {
		return nil, err
	}
	bom.SerialNumber = uuid.NewHash(sha256.New(), uuid.NameSpaceURL, text, 8).URN()
	return encode(bom)
}

func mainComponent(o Options, p suite.Platform, b binary) cdx.Component {
	c := cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: o.Suite.Binary, Version: o.Version,
		Hashes:   &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: b.sum}},
		Licenses: licences(o.Suite.License),
	}
	c.PackageURL = purl(b.info.Main.Path, o.Version) + "?goarch=" + p.Arch + "&goos=" + p.OS + "#" + strings.TrimPrefix(b.info.Path, b.info.Main.Path+"/")
	c.BOMRef = c.PackageURL
	properties := []cdx.Property{{Name: propertyBuild + "go", Value: b.info.GoVersion}}
	for _, s := range b.info.Settings {
		properties = append(properties, cdx.Property{Name: propertyBuild + s.Key, Value: s.Value})
	}
	c.Properties = &properties
	return c
}

// licences returns an SPDX expression, or a single identifier.
func licences(expression string) *cdx.Licenses {
	if strings.Contains(expression, " ") {
		return &cdx.Licenses{{Expression: expression}}
	}
	return &cdx.Licenses{{License: &cdx.License{ID: expression}}}
}

// dependencies returns the imports between packages, grouped by module; the plugin also needs what
// is bundled in its page.
func dependencies(b binary, bundles []string, refs map[string]string) *[]cdx.Dependency {
	all := []cdx.Dependency{{Ref: refs[stdlib]}}
	add := func(name string, needs []string) {
		d := cdx.Dependency{Ref: refs[name]}
		if len(needs) > 0 {
			on := make([]string, len(needs))
			for i, need := range needs {
				on[i] = refs[need]
			}
			slices.Sort(on)
			d.Dependencies = &on
		}
		all = append(all, d)
	}
	add("", slices.Concat(b.needs, bundles))
	for _, name := range bundles {
		add(name, nil)
	}
	for _, m := range b.modules {
		add(m.path, m.needs)
	}
	slices.SortFunc(all, func(x, y cdx.Dependency) int { return cmp.Compare(x.Ref, y.Ref) })
	return &all
}

func encode(bom *cdx.BOM) ([]byte, error) {
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cdx.SpecVersion1_6)
	return out.Bytes(), err
}

// purl returns the package URL of a module. The type golang has paths in lower case.
func purl(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B")
}
