/* Functions around a fork of the process. */
#ifndef MW__BASE_THREAD_FORK_H
#define MW__BASE_THREAD_FORK_H

/* As pthread_atfork; each may be NULL. The library that holds this code stays loaded from then on. */
void mw__fork_watch(void (*prepare)(void), void (*parent)(void), void (*child)(void));

#endif
