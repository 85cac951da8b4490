package web

// Manifest writes an object as YAML for the page, without what may be secret: only values of
// fields that are known to be harmless are shown. hidden counts the values that are not.
func Manifest(object map[string]any) (yaml []byte, hidden int) { return nil, 0 }
