/*
 * Whether the program runs under a sanitizer, which makes everything slower.
 */
#ifndef RBT_SANITIZED_H
#define RBT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RBT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RBT_SANITIZED 1
#endif
#endif

#ifndef RBT_SANITIZED
#define RBT_SANITIZED 0
#endif

/* The first where nothing slows us down, otherwise the second. */
#define RBT_PLAIN_OR_SANITIZED(plain, slow) (RBT_SANITIZED ? (slow) : (plain))

#endif
