#include <troupe/troupe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <pthread.h>
#include <sys/socket.h>
#include <netinet/in.h>
static int lfd, port;
TR_MESSAGE(go, (u32, what));
TR_ACTOR(kid, go); TR_ACTOR(grand, go);
static void *peer(void *x){ (void)x; int fd=accept(lfd,NULL,NULL); usleep(300000); for(int i=0;i<30;i++){ write(fd,"data\n",5); usleep(20000);} sleep(2); return NULL; }
static tr_next grand_go(tr_self*self,const struct go*m){ (void)self;(void)m; usleep(600000); return TR_SAME; }
TR_BEHAVIOR(grand, void, TR_ON(go, grand_go));
static tr_channel ch; static grand_ref g;
static tr_next kid_go(tr_self *self, const struct go *m){
    if (m->what==0){ char a[64]; snprintf(a,sizeof a,"127.0.0.1:%d",port); ch=tr_connect(self,TR_TCP(a)); g=tr_spawn_at(self,1,grand,"g"); tr_tell(self,g,go,.what=0); return TR_SAME; }
    if (m->what==1){ tr_bytes b; bool ok=tr_read(self,ch,&b); fprintf(stderr,"read %d\n",ok); return TR_SAME; }
    *(volatile int*)8=1; return TR_SAME; }
TR_BEHAVIOR(kid, void, TR_ON(go, kid_go));
static tr_next on_args(tr_self *self){
    kid_ref k = tr_spawn(self,kid,"kid");
    tr_tell(self,k,go,.what=0); tr_sleep(self,100*TR_MILLISECOND);
    tr_tell(self,k,go,.what=1); tr_sleep(self,50*TR_MILLISECOND);
    tr_tell(self,k,go,.what=2);
    tr_sleep(self,2*TR_SECOND); fprintf(stderr,"survived\n"); return TR_STOP; }
TR_BEHAVIOR(app, void, TR_ON(tr_args, on_args));
int main(int argc,char**argv){
    lfd=socket(AF_INET,SOCK_STREAM,0); struct sockaddr_in sa={.sin_family=AF_INET,.sin_addr.s_addr=htonl(INADDR_LOOPBACK)}; socklen_t l=sizeof sa;
    bind(lfd,(void*)&sa,sizeof sa); listen(lfd,5); getsockname(lfd,(void*)&sa,&l); port=ntohs(sa.sin_port);
    pthread_t t; pthread_create(&t,NULL,peer,NULL);
    return tr_app_main(argc,argv,app,.workers=2,.traps_faults=true); }
