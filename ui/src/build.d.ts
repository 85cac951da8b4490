/** Set by build.mjs: true in the build of the saved page, which has no server. */
declare const FILE: boolean
/** false in the file of small stacks, which has no picture of parts. */
declare const LARGE: boolean
