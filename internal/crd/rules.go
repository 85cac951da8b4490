package crd

//go:generate go test . -run TestDefinitionsPage -update-definitions

// The names of the rules, in Change.Rule.
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
	// ID is the value of Change.Rule.
	ID       string
	Severity Severity
	// Final is set if force does not help: the API server refuses it, or stored objects could no
	// longer be read.
	Final bool
	// Description says what changed, Why what the effect is.
	Description, Why string
}

// Rules returns all rules: of the definition, of its versions, of the schemas, grouped by subject.
func Rules() []Rule {
	return append(append(definitionRules(), versionRules()...), schemaRules()...)
}

func definitionRules() []Rule {
	return []Rule{
		{scopeChanged, Unsafe, true, "The scope changed", "Objects are stored under keys of their scope: existing ones would be lost. The API server refuses it."},
		{groupChanged, Unsafe, true, "The group changed", "It is another resource. The API server refuses it."},
		{nameChanged, Unsafe, true, "The name or the plural changed", "It is another resource. The API server refuses it."},
		{kindChanged, Unsafe, true, "The kind changed", "Stored objects have the former kind. The API server refuses it."},
		{listKindChanged, Unsafe, false, "The list kind changed", "Clients decode lists by it."},
		{aliasesChanged, Safe, false, "The singular, the short names or the categories changed", "Only kubectl resolves them; requests name the plural."},
		{conversionChanged, Unsafe, false, "The conversion strategy changed, and the CRD has several versions", "With a webhook no object can be read in another version than the stored one until it answers; without one, objects are no longer converted."},
		{conversionUnused, Safe, false, "The conversion strategy changed, and the CRD had a single version", "Nothing was converted before."},
		{webhookChanged, Safe, false, "The conversion webhook changed", "Its server moves along with the CRD. Whether it answers is not checked here."},
	}
}

func versionRules() []Rule {
	return []Rule{
		{storedVersionRemoved, Unsafe, true, "A version of status.storedVersions was removed", "Objects may be stored in it, and could not be read. The API server refuses it. Rewrite them in another version first, and remove the version from status.storedVersions."},
		{versionRemoved, Unsafe, false, "A served version was removed", "Clients that request it get 404, and manifests in it are refused."},
		{versionUnserved, Unsafe, false, "A version is no longer served", "Clients that request it get 404, and manifests in it are refused."},
		{unservedRemoved, Safe, false, "A version that was neither served nor stored was removed", "No client could use it."},
		{versionServed, Safe, false, "A version is now served", "No client used it before."},
		{versionAdded, Safe, false, "A version was added", "No client used it before."},
		{versionLossy, Unsafe, false, "A new version and the storage version have different fields, without a conversion", "Fields that one of them does not have are dropped when an object is written in it."},
		{storageVersionChanged, Safe, false, "Objects are stored in another version, and the former one still exists", "Stored objects can still be read. It cannot be undone by itself: the new version is in status.storedVersions from then on."},
		{storageIncompatible, Unsafe, false, "Objects are stored in another version, without a conversion, and its schema does not accept them unchanged", "Fields that it does not have are dropped when the object is next written, and values that it does not accept cannot be written."},
		{statusWithdrawn, Unsafe, false, "The status subresource was removed", "Controllers write the status there, and get 404; users can write it."},
		{statusAdded, Safe, false, "The status is a subresource", "Stored values stay. A write of an object no longer changes its status, which the controller of this CRD knows."},
		{scaleWithdrawn, Unsafe, false, "The scale subresource was removed", "Autoscalers and kubectl scale get 404."},
		{scaleChanged, Unsafe, false, "A path of the scale subresource changed", "Autoscalers read and write another field."},
		{scaleAdded, Safe, false, "The scale subresource, or its selector, was added", "No client used it before."},
		{selectableRemoved, Unsafe, false, "Objects can no longer be selected by a field", "Requests with the field selector are refused."},
		{selectableAdded, Safe, false, "Objects can be selected by another field", "No client used it before."},
		{columnsChanged, Safe, false, "The printer columns changed", "Only tables change."},
		{deprecationChanged, Safe, false, "The deprecation of the version, or its warning, changed", "It is only a warning."},
		{descriptionsChanged, Safe, false, "Descriptions, titles or examples changed", "They are only read by people."},
	}
}

func schemaRules() []Rule {
	return append([]Rule{
		{fieldRemoved, Unsafe, false, "A field was removed", "It is dropped from objects when they are next written, and its value is lost."},
		{fieldAdded, Safe, false, "An optional field, or a required one with a default, was added", "No object has it yet."},
		{openFieldConstrained, Unsafe, false, "A field has a schema where any field was stored", "Objects may already have other content there."},
		{requiredAdded, Unsafe, false, "A field is required", "Objects without it cannot be written, and manifests without it are refused."},
		{requiredDefaulted, Safe, false, "A field is required, and has a default", "Objects without it get the default before they are validated."},
		{requiredRelaxed, Safe, false, "A field is no longer required", "Every object is still valid."},
		{typeChanged, Unsafe, false, "The type changed", "Objects with the former type cannot be written, and clients cannot decode the new one. Even a wider type is one that clients do not know."},
		{intOrStringChanged, Unsafe, false, "x-kubernetes-int-or-string was added or removed", "It is another type."},
		{nullableWithdrawn, Unsafe, false, "The field can no longer be null", "An existing null is dropped, or replaced by the default."},
		{nullableGranted, Safe, false, "The field can be null", "Every object is still valid."},
		{pruningStarted, Unsafe, false, "Fields that the schema does not know are no longer stored", "They are dropped from objects when they are next written."},
		{pruningEnded, Safe, false, "Fields that the schema does not know are stored", "Every object is still valid."},
		{embeddedChanged, Unsafe, false, "x-kubernetes-embedded-resource was added or removed", "With it apiVersion, kind and metadata are required and validated; without it they are dropped like other unknown fields."},
		{defaultAdded, Unsafe, false, "A default was added", "Existing objects get the value when they are read, which no user chose. So does a new field where the number or the combination of fields is limited."},
		{defaultChanged, Unsafe, false, "The default changed", "An object without the field means something else than before."},
		{defaultRemoved, Unsafe, false, "The default was removed", "Clients find no value where there always was one."},
		{enumAdded, Unsafe, false, "Values are limited to a list", "Objects with other values cannot be written."},
		{enumTightened, Unsafe, false, "A value was removed from the list", "Objects with it cannot be written."},
		{enumRelaxed, Safe, false, "The list has more values, or was removed", "Every object is still valid."},
	}, limitRules()...)
}

func limitRules() []Rule {
	return []Rule{
		{boundAdded, Unsafe, false, "A bound was added (minimum, maxLength, minItems, ...)", "Objects beyond it cannot be written."},
		{minimumRaised, Unsafe, false, "A lower bound is higher, or exclusive", "Objects below it cannot be written."},
		{maximumLowered, Unsafe, false, "An upper bound is lower, or exclusive", "Objects above it cannot be written."},
		{boundRelaxed, Safe, false, "A bound is wider, or was removed", "Every object is still valid."},
		{multipleChanged, Unsafe, false, "Numbers have to be multiples of another value", "Objects with other values cannot be written."},
		{uniqueAdded, Unsafe, false, "Items must be unique", "Objects with equal ones cannot be written."},
		{patternChanged, Unsafe, false, "A pattern was added or changed", "Two patterns cannot be compared: objects may not match the new one."},
		{patternRemoved, Safe, false, "The pattern was removed", "Every object is still valid."},
		{formatChanged, Unsafe, false, "A format was added or changed", "Objects in another format cannot be written."},
		{formatRemoved, Safe, false, "The format was removed", "Every object is still valid."},
		{listTypeChanged, Unsafe, false, "x-kubernetes-list-type changed", "Sets and maps refuse equal items, and server-side apply merges differently: the managers of items change."},
		{listMapKeysChanged, Unsafe, false, "x-kubernetes-list-map-keys changed", "Items are identified by other fields, in which existing items may be equal; server-side apply merges differently."},
		{mapTypeChanged, Unsafe, false, "x-kubernetes-map-type changed", "Server-side apply merges differently: the managers of fields change."},
		{additionalTightened, Unsafe, false, "Fewer keys or values are accepted in a map", "Keys are dropped, or objects cannot be written."},
		{additionalRelaxed, Safe, false, "More keys or values are accepted in a map", "Every object is still valid."},
		{validationAdded, Unsafe, false, "A CEL rule was added or changed", "Objects may not satisfy it. The API server accepts unchanged values (ratcheting, from 1.30) only in updates elsewhere in the object: it refuses a manifest that is applied again, a restored backup, and a controller that writes the field."},
		{validationRemoved, Safe, false, "A CEL rule was removed", "Every object is still valid."},
		{validationReworded, Safe, false, "The message of a CEL rule changed", "It is only read by people."},
		{compositionChanged, Unsafe, false, "allOf, anyOf, oneOf or not changed", "The two cannot be compared: objects may not be valid."},
		{unknownChange, Unsafe, false, "A change that no rule covers", "An unknown change is not safe."},
	}
}
