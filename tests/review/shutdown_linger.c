#include <troupe/troupe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <pthread.h>
#include <sys/socket.h>
#include <netinet/in.h>
static int lfd; static int port; static size_t got; static long last=-2;
static void *reader(void *x){ (void)x; int fd=accept(lfd,NULL,NULL); char b[65536]; long n; sleep(1); while((n=read(fd,b,sizeof b))>0){got+=(size_t)n; usleep(1000);} last=n; return NULL; }
static tr_next on_args(tr_self *self){
    char a[64]; snprintf(a,sizeof a,"127.0.0.1:%d",port);
    tr_channel c = tr_connect(self, TR_TCP(a, .output_max = 64u<<20));
    size_t size = 30u<<20; char *m = malloc(size); memset(m,'x',size);
    tr_status s = tr_write(self, c, (tr_bytes){m,size}); free(m);
    printf("write %s, output %zu\n", tr_status_name(s), tr_output_size(self,c));
    return TR_STOP;
}
TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));
int main(int argc,char**argv){
    lfd=socket(AF_INET,SOCK_STREAM,0); struct sockaddr_in sa={.sin_family=AF_INET,.sin_addr.s_addr=htonl(INADDR_LOOPBACK)}; socklen_t l=sizeof sa;
    bind(lfd,(void*)&sa,sizeof sa); listen(lfd,5); getsockname(lfd,(void*)&sa,&l); port=ntohs(sa.sin_port);
    pthread_t t; pthread_create(&t,NULL,reader,NULL);
    int r=tr_app_main(argc,argv,app);
    pthread_join(t,NULL); printf("exit %d got %zu of %u, last read %ld\n",r,got,30u<<20,last); return 0; }
