/* How much of what could be repeated without end is repeated: a sample, unless LXPLAN_ALL is on; under
 * AddressSanitizer always. */
#ifndef LX_TESTS_SUPPORT_SAMPLED_H
#define LX_TESTS_SUPPORT_SAMPLED_H

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

#ifdef LXPLAN_ALL
enum { SAMPLED = SANITIZED };
#else
enum { SAMPLED = 1 };
#endif

/* How often a loop goes that could go on for ever, if a test that takes its time goes `n` times. */
#define OFTEN(n) (SANITIZED ? (n) / 32 + 1 : SAMPLED ? (n) / 24 + 1 : (n))

#endif
