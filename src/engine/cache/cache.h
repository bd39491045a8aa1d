/* The compile cache: programs by their content (key.h), on disk (entry.h) and within the process (shared.h).
 *
 * Within the process a hit gives the library that was compiled before. In another process it says that this program was
 * compiled for these options by this engine, and gives the bundle; the plan itself is made anew, since it consists of
 * addresses and could not be checked. Failures of the cache itself are lines in the log and no errors: then the program
 * is compiled and not stored. */
#ifndef MW__ENGINE_CACHE_CACHE_H
#define MW__ENGINE_CACHE_CACHE_H

#include "engine/cache/key.h"

/* NULL with err set; with force_fetch also MW_ERROR_FILE if the cache does not have it. */
mw__library *mw__cache_compile(const mw__cache_request *request, mw_error *err);

/* Whether mw__cache_compile would not find it. */
mw_status mw__cache_is_compile_required(const mw__cache_request *request, bool *out, mw_error *err);

/* Removes what was stored of that model, whatever the options were. */
mw_status mw__cache_purge(const char *location, const char *path, mw_error *err);

/* The library of a bundle. That of a program for the ANE is bound to the process that compiled it (a rule of Apple's;
 * ANEForge, dispatch reference); others are planned anew, and refused if this engine, its configuration or the
 * processor are not those that the bundle was made for. */
mw__library *mw__cache_open_bundle(const char *path, mw_error *err);

#endif
