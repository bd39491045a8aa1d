/* Whether the program is what users get: optimized, and without sanitizers. */
#ifndef TESTS_SUPPORT_BUILD_KIND_H
#define TESTS_SUPPORT_BUILD_KIND_H

#ifdef __has_feature
#define BUILD_KIND_FEATURE(name) __has_feature(name)
#else
#define BUILD_KIND_FEATURE(name) 0
#endif
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                         \
    BUILD_KIND_FEATURE(address_sanitizer) || BUILD_KIND_FEATURE(thread_sanitizer)
#define BUILD_IS_PLAIN 0
#else
#define BUILD_IS_PLAIN 1
#endif

#endif
