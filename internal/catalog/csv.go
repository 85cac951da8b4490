package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Imported is an entry that was made of what is written for another tool.
type Imported struct {
	Entry Entry
	// Files are written next to the entry, by path: manifests that are too large for it.
	Files map[string][]byte
	// Warnings say what was not carried over, a sentence each.
	Warnings []string
}

func (im *Imported) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if !slices.Contains(im.Warnings, w) {
		im.Warnings = append(im.Warnings, w)
	}
}

// maxImportedBytes is how many bytes of manifests an import puts into an entry; more go into a
// file next to it.
const maxImportedBytes = 256 << 10

// ParseCSV makes an entry with one version of a ClusterServiceVersion of OLM
// (operators.coreos.com/v1alpha1), and of the other manifests of its bundle: its definitions
// are not in it. What only OLM does is left out, with a warning.
//
// The version is installed for all namespaces where the operator can do that, and for its own
// one otherwise. The error is an *InvalidError where the text is no ClusterServiceVersion, or
// what it says makes no entry.
func ParseCSV(data []byte, manifests ...[]byte) (Imported, error) {
	var im Imported
	c, err := readCSV(data)
	if err != nil {
		return Imported{}, err
	}
	name, version, err := c.identity()
	if err != nil {
		return Imported{}, err
	}
	if len(c.Spec.Install.Spec.Deployments) == 0 {
		return Imported{}, refuse("it has no deployments (spec.install.spec.deployments): nothing would run")
	}
	objects, err := im.bundle(manifests)
	if err != nil {
		return Imported{}, err
	}
	v := Version{Version: version, Kubernetes: c.kubernetes(&im), Namespace: c.namespace(name)}
	e := Entry{Name: name, Title: c.title(name), Description: c.sentence(name), Source: c.sources(), Kinds: c.kinds(&im, objects)}
	v.Requires = c.requires(&im, e.Kinds)
	v.Images = c.images(&im)
	v.Examples = c.examples(&im, e.Kinds)
	installed, ready := c.install(&im, &v, objects)
	v.Ready = ready
	if len(installed) == 0 {
		return Imported{}, refuse("it has no deployments, permissions or manifests: there is nothing to install")
	}
	if err := im.place(&v, name, installed); err != nil {
		return Imported{}, err
	}
	c.reportDropped(&im)
	e.Versions = []Version{v}
	im.Entry = e
	text, err := e.YAML()
	if err != nil {
		return Imported{}, err
	}
	if _, problems := Parse(e.Name, text); len(problems) > 0 {
		return Imported{}, &InvalidError{File: "the entry that was made of the ClusterServiceVersion " + field.Shorten(c.Metadata.Name), Problems: problems}
	}
	return im, nil
}

func refuse(format string, args ...any) error {
	return &InvalidError{File: "the ClusterServiceVersion", Problems: []strict.Problem{{Line: 1, Column: 1, Message: fmt.Sprintf(format, args...)}}}
}

// place puts the manifests into the version, or into a file where they are large.
func (im *Imported) place(v *Version, name string, objects []map[string]any) error {
	text, err := manifestText(objects)
	switch {
	case err != nil:
		return err
	case len(text) > maxFileBytes:
		return refuse("its manifests have %d bytes: expected at most %d", len(text), maxFileBytes)
	case len(text) <= maxImportedBytes:
		v.Source.Inline = string(text)
		return nil
	}
	sum := sha256.Sum256(text)
	file := name + "/" + v.Version + entrySuffix
	v.Source.Manifests = []ManifestSource{{Path: file, SHA256: hex.EncodeToString(sum[:])}}
	im.Files = map[string][]byte{file: text}
	return nil
}

func manifestText(objects []map[string]any) ([]byte, error) {
	var all []byte
	for i, o := range objects {
		text, err := strict.Encode(strict.ValueNode(o))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			all = append(all, "---\n"...)
		}
		all = append(all, text...)
	}
	return all, nil
}

// identity returns the name of the package and the version: widget.v1.2.3 is widget 1.2.3.
func (c *csv) identity() (name, version string, err error) {
	name, _, _ = strings.Cut(strings.ToLower(c.Metadata.Name), ".")
	if len(validation.IsDNS1123Label(name)) > 0 {
		return "", "", refuse("metadata.name is %q: expected NAME.vVERSION, with a DNS label as NAME", field.Shorten(c.Metadata.Name))
	}
	version = strings.TrimPrefix(c.Spec.Version, "v")
	if version == "" {
		return "", "", refuse("it has no spec.version: the name of %s has no version", field.Shorten(c.Metadata.Name))
	}
	if _, err := semver.StrictNewVersion(version); err != nil {
		return "", "", refuse("spec.version is %q: expected a semantic version", field.Shorten(c.Spec.Version))
	}
	return name, version, nil
}

func (c *csv) title(name string) string {
	if t := oneLine(c.Spec.DisplayName); t != "" {
		return cut(t, 80)
	}
	return name
}

// sentence is the first one of what the description says, without the marks of Markdown.
func (c *csv) sentence(name string) string {
	for _, text := range []string{c.Metadata.Annotations["description"], c.Spec.Description} {
		for paragraph := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n\n") {
			var lines []string
			for line := range strings.Lines(paragraph) {
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") && strings.Trim(line, "=-") != "" {
					lines = append(lines, line)
				}
			}
			if t := oneLine(strings.Join(lines, " ")); t != "" {
				first, _, _ := strings.Cut(t, ". ")
				return cut(strings.TrimSuffix(first, ".")+".", 200)
			}
		}
	}
	return "The operator " + name + "."
}

// oneLine is a text without line breaks, what cannot be seen, and what Markdown marks words with.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unprintable(r) || strings.ContainsRune("*_`", r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// cut shortens a text at a space.
func cut(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	short := string(runes[:most-3])
	if i := strings.LastIndexByte(short, ' '); i > 0 {
		short = short[:i]
	}
	return short + "..."
}

// sources say where the operator comes from.
func (c *csv) sources() []string {
	var all []string
	texts := []string{c.Metadata.Annotations["repository"]}
	for _, l := range c.Spec.Links {
		texts = append(texts, l.URL)
	}
	for _, t := range texts {
		if t = oneLine(t); field.URLScheme(t) == "https" && len(t) < 200 && len(all) < 3 && !strings.Contains(t, "@") {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		all = []string{"ClusterServiceVersion " + oneLine(c.Metadata.Name)}
	}
	return all
}

func (c *csv) kubernetes(im *Imported) string {
	text := strings.TrimPrefix(c.Spec.MinKubeVersion, "v")
	if text == "" {
		return ""
	}
	v, err := semver.NewVersion(text)
	if err != nil {
		im.warn("minKubeVersion is %q, which is not a version: skipped", field.Shorten(c.Spec.MinKubeVersion))
		return ""
	}
	return ">=" + v.String()
}

func (c *csv) namespace(name string) string {
	n := c.Metadata.Annotations["operatorframework.io/suggested-namespace"]
	if len(validation.IsDNS1123Label(n)) > 0 {
		return name
	}
	return n
}

// reportDropped warns of what OLM would do and an install does not.
func (c *csv) reportDropped(im *Imported) {
	for _, w := range c.Spec.WebhookDefinitions {
		im.warn("the webhook %s (%s) is not converted: OLM creates its configuration and its certificate, which must be provided separately", field.Shorten(oneLine(w.GenerateName)), field.Shorten(oneLine(w.Type)))
	}
	for _, a := range c.Spec.APIServices.Owned {
		im.warn("the API service %s %s is not converted: OLM creates its registration and its certificate", field.Shorten(oneLine(a.Kind+"."+a.Group)), field.Shorten(oneLine(a.Version)))
	}
	for _, n := range c.Spec.NativeAPIs {
		im.warn("its requirement of %s is not converted: every cluster is assumed to have it", field.Shorten(oneLine(n.Kind+"."+n.Group)))
	}
	if c.Spec.Replaces != "" || len(c.Spec.Skips) > 0 || c.Metadata.Annotations["olm.skipRange"] != "" {
		im.warn("the versions that it replaces or skips are not converted: upgrades follow the order of versions")
	}
	im.warn("values that OLM sets in a pod at run time are missing: OPERATOR_CONDITION_NAME, and the annotations olm.operatorGroup and olm.operatorNamespace")
}

// csv is what is read of a ClusterServiceVersion.
type csv struct {
	Metadata struct {
		Name        string            `yaml:"name"`
		Annotations map[string]string `yaml:"annotations"`
	} `yaml:"metadata"`
	Spec struct {
		DisplayName    string   `yaml:"displayName"`
		Description    string   `yaml:"description"`
		Version        string   `yaml:"version"`
		MinKubeVersion string   `yaml:"minKubeVersion"`
		Replaces       string   `yaml:"replaces"`
		Skips          []string `yaml:"skips"`
		Links          []struct {
			URL string `yaml:"url"`
		} `yaml:"links"`
		RelatedImages []struct {
			Image string `yaml:"image"`
		} `yaml:"relatedImages"`
		InstallModes []struct {
			Type      string `yaml:"type"`
			Supported bool   `yaml:"supported"`
		} `yaml:"installModes"`
		Definitions struct {
			Owned    []csvKind `yaml:"owned"`
			Required []csvKind `yaml:"required"`
		} `yaml:"customresourcedefinitions"`
		APIServices struct {
			Owned    []csvAPI `yaml:"owned"`
			Required []csvAPI `yaml:"required"`
		} `yaml:"apiservicedefinitions"`
		NativeAPIs         []csvAPI `yaml:"nativeAPIs"`
		WebhookDefinitions []struct {
			Type         string `yaml:"type"`
			GenerateName string `yaml:"generateName"`
		} `yaml:"webhookdefinitions"`
		Install struct {
			Strategy string `yaml:"strategy"`
			Spec     struct {
				Permissions        []csvPermission `yaml:"permissions"`
				ClusterPermissions []csvPermission `yaml:"clusterPermissions"`
				Deployments        []csvDeployment `yaml:"deployments"`
			} `yaml:"spec"`
		} `yaml:"install"`
	} `yaml:"spec"`
}

// csvKind is a definition that is owned or required; Name is that of the definition.
type csvKind struct {
	Name      string `yaml:"name"`
	Kind      string `yaml:"kind"`
	Version   string `yaml:"version"`
	Resources []struct {
		Name    string `yaml:"name"`
		Kind    string `yaml:"kind"`
		Version string `yaml:"version"`
	} `yaml:"resources"`
}

type csvAPI struct {
	Group   string `yaml:"group"`
	Version string `yaml:"version"`
	Kind    string `yaml:"kind"`
}

// csvPermission are permissions of a service account. Rules are taken over unchanged.
type csvPermission struct {
	ServiceAccount string    `yaml:"serviceAccountName"`
	Rules          yaml.Node `yaml:"rules"`
}

type csvDeployment struct {
	Name  string            `yaml:"name"`
	Label map[string]string `yaml:"label"`
	Spec  yaml.Node         `yaml:"spec"`
}

const (
	csvVersion = "operators.coreos.com/v1alpha1"
	csvName    = "ClusterServiceVersion"
)

// readCSV reads the text, within bounds.
func readCSV(data []byte) (*csv, error) {
	if len(data) > maxEntryBytes {
		return nil, refuse("it has %d bytes: expected at most %d", len(data), maxEntryBytes)
	}
	root, problem := strict.Document(data)
	switch {
	case problem != nil:
		return nil, &InvalidError{File: "the " + csvName, Problems: []strict.Problem{*problem}}
	case root == nil || textOf(root, "apiVersion") != csvVersion || textOf(root, "kind") != csvName:
		return nil, refuse("expected a document of apiVersion %s, kind %s", csvVersion, csvName)
	case !plainYAML(root, maxDepth):
		return nil, refuse("aliases, and content nested more than %d deep, are not read", maxDepth)
	}
	c := &csv{}
	if err := root.Decode(c); err != nil {
		wrong := err.Error()
		if typed, ok := errors.AsType[*yaml.TypeError](err); ok && len(typed.Errors) > 0 {
			wrong = typed.Errors[0]
		}
		return nil, refuse("%s", wrong)
	}
	return c, nil
}

// csvKindName is Kind.group of a definition that is named PLURAL.GROUP.
func csvKindName(kind, definition string) string {
	_, group, ok := strings.Cut(definition, ".")
	name := kind + "." + group
	if !ok || declare.CheckKind(name) != "" {
		return ""
	}
	return name
}
