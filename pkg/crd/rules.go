package crd

//go:generate go test . -run TestDefinitionsPage -update-definitions

// The names of the rules, as Change.Rule has them.
const (
	scopeChanged          = "scope-changed"
	groupChanged          = "group-changed"
	nameChanged           = "name-changed"
	kindChanged           = "kind-changed"
	listKindChanged       = "list-kind-changed"
	aliasesChanged        = "aliases-changed"
	conversionChanged     = "conversion-changed"
	conversionUnused      = "conversion-unused"
	webhookChanged        = "conversion-webhook-changed"
	versionAdded          = "version-added"
	versionLossy          = "version-lossy"
	versionRemoved        = "version-removed"
	unservedRemoved       = "unserved-version-removed"
	storedVersionRemoved  = "stored-version-removed"
	versionUnserved       = "version-unserved"
	versionServed         = "version-served"
	storageVersionChanged = "storage-version-changed"
	storageIncompatible   = "storage-incompatible"
	statusWithdrawn       = "status-withdrawn"
	statusAdded           = "status-added"
	scaleWithdrawn        = "scale-withdrawn"
	scaleChanged          = "scale-changed"
	scaleAdded            = "scale-added"
	selectableRemoved     = "selectable-field-removed"
	selectableAdded       = "selectable-field-added"
	columnsChanged        = "columns-changed"
	deprecationChanged    = "deprecation-changed"
	descriptionsChanged   = "descriptions-changed"
	fieldRemoved          = "field-removed"
	fieldAdded            = "field-added"
	openFieldConstrained  = "open-field-constrained"
	requiredAdded         = "required-added"
	requiredDefaulted     = "required-defaulted"
	requiredRelaxed       = "required-relaxed"
	typeChanged           = "type-changed"
	intOrStringChanged    = "int-or-string-changed"
	nullableWithdrawn     = "nullable-withdrawn"
	nullableGranted       = "nullable-granted"
	pruningStarted        = "pruning-started"
	pruningEnded          = "pruning-ended"
	embeddedChanged       = "embedded-resource-changed"
	defaultAdded          = "default-added"
	defaultChanged        = "default-changed"
	defaultRemoved        = "default-removed"
	enumAdded             = "enum-added"
	enumTightened         = "enum-tightened"
	enumRelaxed           = "enum-relaxed"
	boundAdded            = "bound-added"
	minimumRaised         = "minimum-raised"
	maximumLowered        = "maximum-lowered"
	boundRelaxed          = "bound-relaxed"
	multipleChanged       = "multiple-changed"
	uniqueAdded           = "unique-items-added"
	patternChanged        = "pattern-changed"
	patternRemoved        = "pattern-removed"
	formatChanged         = "format-changed"
	formatRemoved         = "format-removed"
	listTypeChanged       = "list-type-changed"
	listMapKeysChanged    = "list-map-keys-changed"
	mapTypeChanged        = "map-type-changed"
	additionalTightened   = "additional-properties-tightened"
	additionalRelaxed     = "additional-properties-relaxed"
	validationAdded       = "validation-added"
	validationRemoved     = "validation-removed"
	validationReworded    = "validation-reworded"
	compositionChanged    = "composition-changed"
	unknownChange         = "unknown-change"
)

// Rule is a kind of change.
type Rule struct {
	// ID is what Change.Rule says.
	ID       string
	Severity Severity
	// Final says that nobody can force it: the API server refuses it, or what is stored
	// could no longer be read.
	Final bool
	// Description says what changed, Why what comes of it.
	Description, Why string
}

// Rules returns all rules: of the definition, of its versions, of the schemas; within each,
// those that belong together stand together.
func Rules() []Rule {
	return append(append(definitionRules(), versionRules()...), schemaRules()...)
}

func definitionRules() []Rule {
	return []Rule{
		{scopeChanged, Unsafe, true, "The scope is another", "Objects are stored under keys of their scope: those that are there would be lost. The API server refuses it."},
		{groupChanged, Unsafe, true, "The group is another", "It is another resource. The API server refuses it."},
		{nameChanged, Unsafe, true, "The name or the plural is another", "It is another resource. The API server refuses it."},
		{kindChanged, Unsafe, true, "The kind is another", "Objects that are stored have the former kind. The API server refuses it."},
		{listKindChanged, Unsafe, false, "The kind of lists is another", "Clients decode lists by it."},
		{aliasesChanged, Safe, false, "The singular, the short names or the categories are others", "Only kubectl resolves them; requests name the plural."},
		{conversionChanged, Unsafe, false, "The strategy of conversion is another, and several versions are there", "With a webhook no object is read in another version than the stored one until it answers; without one, what it converted is no longer converted."},
		{conversionUnused, Safe, false, "The strategy of conversion is another, and there was a single version", "Nothing was converted before."},
		{webhookChanged, Safe, false, "The webhook of conversion is elsewhere", "Who serves it moves along with the definition. Whether it answers is not decided here."},
	}
}

func versionRules() []Rule {
	return []Rule{
		{storedVersionRemoved, Unsafe, true, "A version of status.storedVersions is not there any more", "Objects may be stored in it, and could not be read. The API server refuses it. They have to be written anew in another version first, and the version taken from status.storedVersions."},
		{versionRemoved, Unsafe, false, "A version that was served is not there any more", "Clients that ask for it get 404, and manifests in it are refused."},
		{versionUnserved, Unsafe, false, "A version is not served any more", "Clients that ask for it get 404, and manifests in it are refused."},
		{unservedRemoved, Safe, false, "A version that was neither served nor stored is not there any more", "Nobody could use it."},
		{versionServed, Safe, false, "A version is served that was not", "Nobody used it before."},
		{versionAdded, Safe, false, "A version is new", "Nobody used it before."},
		{versionLossy, Unsafe, false, "A new version and the storage version, without conversion, do not have the same fields", "What one of them does not have is dropped when an object is written in it."},
		{storageVersionChanged, Safe, false, "Objects are stored in another version, and the former one is still there", "What is stored is still read. It cannot be taken back by itself: the new version is in status.storedVersions from then on."},
		{storageIncompatible, Unsafe, false, "Objects are stored in another version, without conversion, and its schema does not take them as they are", "Fields that it does not have are dropped when the object is next written, and what it does not accept cannot be written."},
		{statusWithdrawn, Unsafe, false, "The status subresource is withdrawn", "Controllers write the status there, and get 404; users can write it."},
		{statusAdded, Safe, false, "The status is a subresource", "What is stored stays. Writing an object leaves its status alone, which the controller of this definition knows."},
		{scaleWithdrawn, Unsafe, false, "The scale subresource is withdrawn", "Autoscalers and kubectl scale get 404."},
		{scaleChanged, Unsafe, false, "A path of the scale subresource is another", "Autoscalers read and write another field."},
		{scaleAdded, Safe, false, "The scale subresource, or its selector, is new", "Nobody used it before."},
		{selectableRemoved, Unsafe, false, "Objects cannot be selected by a field any more", "Requests with the field selector are refused."},
		{selectableAdded, Safe, false, "Objects can be selected by another field", "Nobody used it before."},
		{columnsChanged, Safe, false, "The printer columns are others", "Only tables look different."},
		{deprecationChanged, Safe, false, "The version is deprecated, or no longer, or with other words", "It is a warning."},
		{descriptionsChanged, Safe, false, "Descriptions, titles or examples are others", "They are for people."},
	}
}

func schemaRules() []Rule {
	return append([]Rule{
		{fieldRemoved, Unsafe, false, "A field is not there any more", "It is dropped from objects when they are next written, and its value is lost."},
		{fieldAdded, Safe, false, "An optional field is new, or a required one with a default", "No object has it yet."},
		{openFieldConstrained, Unsafe, false, "A field has a schema where any field was kept", "Objects may have something else there already."},
		{requiredAdded, Unsafe, false, "A field is required", "Objects without it cannot be written, and manifests without it are refused."},
		{requiredDefaulted, Safe, false, "A field is required, and has a default", "Objects without it get the default before they are validated."},
		{requiredRelaxed, Safe, false, "A field is not required any more", "Every object fits still."},
		{typeChanged, Unsafe, false, "The type is another", "Objects with the former type cannot be written, and clients cannot decode the new one. Even a wider type is one that clients do not know."},
		{intOrStringChanged, Unsafe, false, "x-kubernetes-int-or-string is given or withdrawn", "It is another type."},
		{nullableWithdrawn, Unsafe, false, "The field cannot be null any more", "A null that is there is dropped, or replaced by the default."},
		{nullableGranted, Safe, false, "The field can be null", "Every object fits still."},
		{pruningStarted, Unsafe, false, "Fields that the schema does not know are not kept any more", "They are dropped from objects when they are next written."},
		{pruningEnded, Safe, false, "Fields that the schema does not know are kept", "Every object fits still."},
		{embeddedChanged, Unsafe, false, "x-kubernetes-embedded-resource is given or withdrawn", "With it apiVersion, kind and metadata are required and validated; without it they are fields like others, and dropped."},
		{defaultAdded, Unsafe, false, "A default is given", "Objects that are there get the value when they are read, which nobody chose. So does a new field where the number or the combination of fields is limited."},
		{defaultChanged, Unsafe, false, "The default is another", "Objects written before and after mean different things by leaving it out."},
		{defaultRemoved, Unsafe, false, "The default is withdrawn", "Clients find nothing where there always was a value."},
		{enumAdded, Unsafe, false, "Values are limited to a list", "Objects with others cannot be written."},
		{enumTightened, Unsafe, false, "A value is taken from the list", "Objects with it cannot be written."},
		{enumRelaxed, Safe, false, "The list has more values, or there is none any more", "Every object fits still."},
	}, limitRules()...)
}

func limitRules() []Rule {
	return []Rule{
		{boundAdded, Unsafe, false, "A bound is given (minimum, maxLength, minItems, ...)", "Objects beyond it cannot be written."},
		{minimumRaised, Unsafe, false, "A lower bound is higher, or exclusive", "Objects below it cannot be written."},
		{maximumLowered, Unsafe, false, "An upper bound is lower, or exclusive", "Objects above it cannot be written."},
		{boundRelaxed, Safe, false, "A bound is wider, or there is none any more", "Every object fits still."},
		{multipleChanged, Unsafe, false, "Numbers have to be multiples of another", "Objects with others cannot be written."},
		{uniqueAdded, Unsafe, false, "Items have to be unique", "Objects with equal ones cannot be written."},
		{patternChanged, Unsafe, false, "A pattern is given, or is another", "Whether one pattern takes what another takes is not decided: objects may not match."},
		{patternRemoved, Safe, false, "There is no pattern any more", "Every object fits still."},
		{formatChanged, Unsafe, false, "A format is given, or is another", "Objects in another format cannot be written."},
		{formatRemoved, Safe, false, "There is no format any more", "Every object fits still."},
		{listTypeChanged, Unsafe, false, "x-kubernetes-list-type is another", "Sets and maps refuse equal items, and server-side apply merges in another way: who owns which item changes."},
		{listMapKeysChanged, Unsafe, false, "x-kubernetes-list-map-keys are others", "Items are told apart by other fields, by which there may be equal ones; server-side apply merges in another way."},
		{mapTypeChanged, Unsafe, false, "x-kubernetes-map-type is another", "Server-side apply merges in another way: who owns which field changes."},
		{additionalTightened, Unsafe, false, "Fewer keys or values are accepted in a map", "Keys are dropped, or objects cannot be written."},
		{additionalRelaxed, Safe, false, "More keys or values are accepted in a map", "Every object fits still."},
		{validationAdded, Unsafe, false, "A rule in CEL is new, or is another", "Objects may not satisfy it. That the API server lets unchanged values pass (ratcheting, from 1.30) spares only updates elsewhere in the object: a manifest applied anew, a backup put back and a controller that writes the field are refused."},
		{validationRemoved, Safe, false, "There is one rule in CEL less", "Every object fits still."},
		{validationReworded, Safe, false, "A rule in CEL says something else to those who break it", "It is for people."},
		{compositionChanged, Unsafe, false, "allOf, anyOf, oneOf or not is another", "Whether one takes what another takes is not decided: objects may not fit."},
		{unknownChange, Unsafe, false, "Something changed of which no rule speaks", "What is not known is not called safe."},
	}
}
