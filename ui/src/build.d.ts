/** Set by build.mjs: true in the build of the saved page, which has no server. */
declare const FILE: boolean
