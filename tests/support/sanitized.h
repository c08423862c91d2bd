/* Is this a build with AddressSanitizer? Tests that repeat one thing very often do it less often there. */
#ifndef LX_TESTS_SUPPORT_SANITIZED_H
#define LX_TESTS_SUPPORT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

#endif
