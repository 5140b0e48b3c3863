/* The macros as C uses them, for the tests. */
#ifndef SOJOURN_TESTS_QUEUE_FORM_H
#define SOJOURN_TESTS_QUEUE_FORM_H

#ifdef __cplusplus
extern "C" {
#endif

struct sj_queue;

struct sj_queue* form_open(void);  /* every member of a queue's description */
struct sj_queue* form_blank(void); /* only a name */
void form_describe(struct sj_queue* queue);
void form_count(struct sj_queue* queue); /* 11 in, 6 out, in every way that there is */
void form_end(struct sj_queue* queue);

/* The same queue, compiled without rings. */
struct sj_queue* off_open(void);
int off_count(struct sj_queue* queue); /* how often an item was evaluated */

#ifdef __cplusplus
}
#endif

#endif
