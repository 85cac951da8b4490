// Package regulator answers the questions of the regulation of a System, and acts on it: a request
// in, a result out. It knows neither flags nor tables.
package regulator
