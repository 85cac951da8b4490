package krew

// Rule is something that a manifest is held to.
type Rule struct {
	// Number counts from 1. The first twelve are krew's own, the next five those of the CI
	// of its index; then come its naming guide and best practices, and then the traps.
	Number int
	// By is who holds manifests to it.
	By Source
	// Says is the rule in a sentence.
	Says string
}

// Source is who made a rule.
type Source string

// The sources of rules.
const (
	// Krew refuses the manifest.
	Krew Source = "krew"
	// Index is the CI of krew-index, which refuses the pull request.
	Index Source = "krew-index"
	// Guide is the naming guide and the best practices, which reviewers go by.
	Guide Source = "guide"
	// Trap is what nobody refuses, or not before a user has the plugin.
	Trap Source = "trap"
)

// The rules by what they are about.
const (
	ruleAPIVersion = 1 + iota
	ruleKind
	ruleSafeName
	ruleFileName
	ruleShort
	rulePlatforms
	ruleVersion
	ruleURI
	ruleSum
	ruleBin
	ruleFiles
	ruleSelector
	ruleExtension
	ruleKnownPlatform
	ruleOverlap
	ruleInstalls
	ruleLicence
	ruleKebab
	ruleKube
	ruleAcronym
	ruleGeneric
	ruleTaken
	ruleShortLength
	ruleRedundant
	ruleExamples
	ruleLineLength
	ruleDefaultFiles
	ruleDocument
	ruleUnknownField
	ruleBinInside
	ruleBinFound
	ruleBinMode
	ruleWindows
	ruleScheme
	ruleArchiveSum
	ruleArchiveType
	ruleArchiveEntry
)

// Rules are all rules, in the order of their numbers.
func Rules() []Rule {
	return []Rule{
		{ruleAPIVersion, Krew, "apiVersion is " + APIVersion},
		{ruleKind, Krew, "kind is " + Kind},
		{ruleSafeName, Krew, "metadata.name is letters, digits, _ and -, and no device name of Windows"},
		{ruleFileName, Krew, "metadata.name is the name of the file"},
		{ruleShort, Krew, "shortDescription exists, and is one line"},
		{rulePlatforms, Krew, "it has a platform"},
		{ruleVersion, Krew, "version is a whole semantic version with a leading v"},
		{ruleURI, Krew, "each platform has a uri"},
		{ruleSum, Krew, "each sha256 is 64 lower-case hexadecimal digits"},
		{ruleBin, Krew, "each platform has a bin"},
		{ruleFiles, Krew, "files is omitted or has items, each with from and to"},
		{ruleSelector, Krew, "each platform has a selector, by os and arch alone, with no empty part"},
		{ruleExtension, Index, "the file ends in " + Extension},
		{ruleKnownPlatform, Index, "each selector matches a platform that krew runs on"},
		{ruleOverlap, Index, "no platform is matched by two selectors"},
		{ruleInstalls, Index, "each archive can be installed"},
		{ruleLicence, Index, "a licence file is among what is installed"},
		{ruleKebab, Guide, "the name is lower-case words with dashes between them"},
		{ruleKube, Guide, "the name has no kube, k8s or kubectl in it"},
		{ruleAcronym, Guide, "the name has no acronym of a resource in it"},
		{ruleGeneric, Guide, "the name is not a verb or noun that could be any plugin's"},
		{ruleTaken, Guide, "the name is not another plugin's"},
		{ruleShortLength, Guide, "shortDescription has at most 50 characters"},
		{ruleRedundant, Guide, "shortDescription does not say kubectl, Kubernetes or plugin"},
		{ruleExamples, Guide, "description has no examples of commands: caveats or the homepage have"},
		{ruleLineLength, Guide, "lines of description and caveats have at most 80 characters"},
		{ruleDefaultFiles, Guide, "files is omitted where everything is installed"},
		{ruleDocument, Trap, "the file is one YAML document that is a plugin"},
		{ruleUnknownField, Trap, "all fields are known: krew drops others silently"},
		{ruleBinInside, Trap, "bin stays inside of the archive: krew installs without a link if not"},
		{ruleBinFound, Trap, "bin is among what is installed"},
		{ruleBinMode, Trap, "bin can be executed as it is in the archive"},
		{ruleWindows, Trap, "bin ends in .exe on Windows, and nowhere else"},
		{ruleScheme, Trap, "each uri is one of http or https: krew fetches no other"},
		{ruleArchiveSum, Trap, "sha256 is that of the archive"},
		{ruleArchiveType, Trap, "each archive is a zip file or a tar file in gzip, by its first bytes"},
		{ruleArchiveEntry, Trap, "each archive has only files and directories, without .. and absolute paths"},
	}
}
