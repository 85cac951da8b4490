// Package suite reads plugins.yaml, the list of the suite's commands, of the names under which they
// can be installed alone, and of its platforms. The release, the krew index and the tests of the
// commands are based on it.
package suite

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"
)

// Suite is the content of plugins.yaml.
type Suite struct {
	// Name is that of the plugin: kubectl NAME.
	Name string `json:"name"`
	// Binary is the file that kubectl looks for, without ".exe".
	Binary string `json:"binary"`
	// License is an SPDX expression.
	License  string `json:"license"`
	Homepage string `json:"homepage"`
	// ShortDescription is one line of at most fifty characters.
	ShortDescription string `json:"shortDescription"`
	Description      string `json:"description"`
	// Caveats is shown after the installation.
	Caveats string `json:"caveats"`
	// Download is the address of an archive, with {version} and {archive} in it.
	Download string `json:"download"`
	// Platforms are those of a release.
	Platforms []Platform `json:"platforms"`
	// Commands are in the order of the help.
	Commands []Command `json:"commands"`
	// Aliases are names under which a command of the same binary is a plugin of its own.
	Aliases []Alias `json:"aliases"`
}

// Command is a command of the suite, with the line in its help.
type Command struct {
	Name  string `json:"name"`
	Short string `json:"short"`
}

// Alias is a plugin that runs one command of the suite: a link to the binary with its name.
type Alias struct {
	// Name is that of the plugin: kubectl NAME.
	Name string `json:"name"`
	// Command is the command that it runs.
	Command          string `json:"command"`
	ShortDescription string `json:"shortDescription"`
}

// Platform is an operating system and an architecture in Go's terms, written OS/ARCH.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// UnmarshalJSON parses OS/ARCH.
func (p *Platform) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	var ok bool
	if p.OS, p.Arch, ok = strings.Cut(text, "/"); !ok || p.OS == "" || p.Arch == "" {
		return fmt.Errorf("platform %q: expected OS/ARCH", text)
	}
	return nil
}

// Read reads a suite manifest; unknown fields are errors.
func Read(path string) (Suite, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Suite{}, err
	}
	var s Suite
	if err := yaml.UnmarshalStrict(b, &s); err != nil {
		return Suite{}, fmt.Errorf("%s: %w", path, err)
	}
	if err := s.validate(); err != nil {
		return Suite{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// validate reports everything that is missing. Package krew checks krew's requirements on
// descriptions and names.
func (s Suite) validate() error {
	var errs []error
	for _, f := range []struct{ name, value string }{
		{"name", s.Name},
		{"binary", s.Binary},
		{"license", s.License},
		{"homepage", s.Homepage},
		{"shortDescription", s.ShortDescription},
		{"description", s.Description},
		{"download", s.Download},
	} {
		if strings.TrimSpace(f.value) == "" {
			errs = append(errs, fmt.Errorf("%s is missing", f.name))
		}
	}
	if len(s.Platforms) == 0 {
		errs = append(errs, errors.New("platforms is empty"))
	}
	commands := map[string]bool{}
	for i, c := range s.Commands {
		if c.Name == "" || c.Short == "" || commands[c.Name] {
			errs = append(errs, fmt.Errorf("commands[%d]: expected a name of its own and a short description", i))
		}
		commands[c.Name] = true
	}
	for i, a := range s.Aliases {
		if !commands[a.Command] {
			errs = append(errs, fmt.Errorf("aliases[%d]: %q is not a command", i, a.Command))
		}
		if want := s.Name + "-" + a.Command; a.Name != want {
			errs = append(errs, fmt.Errorf("aliases[%d]: the name is %q: expected %s, from which the binary knows the command", i, a.Name, want))
		}
	}
	return errors.Join(errs...)
}

// Plugin is one plugin of an index: the suite itself, or one of its aliases.
type Plugin struct {
	Name, ShortDescription, Description, Caveats string
}

// Plugins returns the suite and its aliases, in that order.
func (s Suite) Plugins() []Plugin {
	all := []Plugin{{s.Name, s.ShortDescription, s.Description, s.Caveats}}
	for _, a := range s.Aliases {
		all = append(all, Plugin{
			Name: a.Name, ShortDescription: a.ShortDescription,
			Caveats:     fmt.Sprintf("Try it without a cluster, as its examples do: kubectl %s --help\n", a.Name),
			Description: fmt.Sprintf("The command %s of the suite %s as a plugin of its own.\n\n%s", a.Command, s.Name, s.Description),
		})
	}
	return all
}

// Executable returns the file name of the binary on a platform.
func (s Suite) Executable(p Platform) string {
	if p.OS == "windows" {
		return s.Binary + ".exe"
	}
	return s.Binary
}

// Archive returns the file name of the archive of a version ("v1.2.3") for a platform.
func (s Suite) Archive(version string, p Platform) string {
	ext := "tar.gz"
	if p.OS == "windows" {
		ext = "zip"
	}
	return fmt.Sprintf("%s_%s_%s_%s.%s", s.Binary, version, p.OS, p.Arch, ext)
}

// URI returns the download address of the archive of a version for a platform.
func (s Suite) URI(version string, p Platform) string {
	return strings.NewReplacer("{version}", version, "{archive}", s.Archive(version, p)).Replace(s.Download)
}

// CheckVersion requires a complete semantic version with a leading v, as krew does.
func CheckVersion(version string) error {
	// Go's semver accepts v1 and v1.2 as well.
	if !semver.IsValid(version) || semver.Canonical(version)+semver.Build(version) != version {
		return fmt.Errorf("version %s: expected vMAJOR.MINOR.PATCH, as in v0.1.0 or v0.2.0-rc.1", cmp.Or(version, `""`))
	}
	return nil
}
