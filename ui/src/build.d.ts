/** Set by build.mjs: true in the build of the saved page, which has no server. */
declare const FILE: boolean
/** false in the file of a few small stacks, which has no picture of parts and no map of chips or tiles. */
declare const LARGE: boolean
