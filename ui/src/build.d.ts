/** Set by build.mjs: this is built into a file, which has nobody to ask. */
declare const FILE: boolean
