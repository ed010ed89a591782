var ge,M,tn,K,Ie,rn,on,ln,Je,Ue,ke,re={},an=[],kn=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i,ve=Array.isArray;function V(e,t){for(var r in t)e[r]=t[r];return e}function Ce(e){e&&e.parentNode&&e.parentNode.removeChild(e)}function xn(e,t,r){var o,l,a,h={};for(a in t)a=="key"?o=t[a]:a=="ref"?l=t[a]:h[a]=t[a];if(arguments.length>2&&(h.children=arguments.length>3?ge.call(arguments,2):r),typeof e=="function"&&e.defaultProps!=null)for(a in e.defaultProps)h[a]===void 0&&(h[a]=e.defaultProps[a]);return ce(e,h,o,l,null)}function ce(e,t,r,o,l){var a={type:e,props:t,key:r,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:void 0,__v:l??++tn,__i:-1,__u:0};return l==null&&M.vnode!=null&&M.vnode(a),a}function z(e){return e.children}function de(e,t){this.props=e,this.context=t}function Z(e,t){if(t==null)return e.__?Z(e.__,e.__i+1):null;for(var r;t<e.__k.length;t++)if((r=e.__k[t])!=null&&r.__e!=null)return r.__e;return typeof e.type=="function"?Z(e):null}function sn(e){var t,r;if((e=e.__)!=null&&e.__c!=null){for(e.__e=e.__c.base=null,t=0;t<e.__k.length;t++)if((r=e.__k[t])!=null&&r.__e!=null){e.__e=e.__c.base=r.__e;break}return sn(e)}}function We(e){(!e.__d&&(e.__d=!0)&&K.push(e)&&!me.__r++||Ie!=M.debounceRendering)&&((Ie=M.debounceRendering)||rn)(me)}function me(){for(var e,t,r,o,l,a,h,u=1;K.length;)K.length>u&&K.sort(on),e=K.shift(),u=K.length,e.__d&&(r=void 0,o=void 0,l=(o=(t=e).__v).__e,a=[],h=[],t.__P&&((r=V({},o)).__v=o.__v+1,M.vnode&&M.vnode(r),Pe(t.__P,r,o,t.__n,t.__P.namespaceURI,32&o.__u?[l]:null,a,l??Z(o),!!(32&o.__u),h),r.__v=o.__v,r.__.__k[r.__i]=r,un(a,r,h),o.__e=o.__=null,r.__e!=l&&sn(r)));me.__r=0}function cn(e,t,r,o,l,a,h,u,d,s,i){var c,p,m,v,S,_,g,y=o&&o.__k||an,b=t.length;for(d=$n(r,t,y,d,b),c=0;c<b;c++)(m=r.__k[c])!=null&&(p=m.__i==-1?re:y[m.__i]||re,m.__i=c,_=Pe(e,m,p,l,a,h,u,d,s,i),v=m.__e,m.ref&&p.ref!=m.ref&&(p.ref&&Ne(p.ref,null,m),i.push(m.ref,m.__c||v,m)),S==null&&v!=null&&(S=v),(g=!!(4&m.__u))||p.__k===m.__k?d=dn(m,d,e,g):typeof m.type=="function"&&_!==void 0?d=_:v&&(d=v.nextSibling),m.__u&=-7);return r.__e=S,d}function $n(e,t,r,o,l){var a,h,u,d,s,i=r.length,c=i,p=0;for(e.__k=new Array(l),a=0;a<l;a++)(h=t[a])!=null&&typeof h!="boolean"&&typeof h!="function"?(d=a+p,(h=e.__k[a]=typeof h=="string"||typeof h=="number"||typeof h=="bigint"||h.constructor==String?ce(null,h,null,null,null):ve(h)?ce(z,{children:h},null,null,null):h.constructor==null&&h.__b>0?ce(h.type,h.props,h.key,h.ref?h.ref:null,h.__v):h).__=e,h.__b=e.__b+1,u=null,(s=h.__i=En(h,r,d,c))!=-1&&(c--,(u=r[s])&&(u.__u|=2)),u==null||u.__v==null?(s==-1&&(l>i?p--:l<i&&p++),typeof h.type!="function"&&(h.__u|=4)):s!=d&&(s==d-1?p--:s==d+1?p++:(s>d?p--:p++,h.__u|=4))):e.__k[a]=null;if(c)for(a=0;a<i;a++)(u=r[a])!=null&&(2&u.__u)==0&&(u.__e==o&&(o=Z(u)),pn(u,u));return o}function dn(e,t,r,o){var l,a;if(typeof e.type=="function"){for(l=e.__k,a=0;l&&a<l.length;a++)l[a]&&(l[a].__=e,t=dn(l[a],t,r,o));return t}e.__e!=t&&(o&&(t&&e.type&&!t.parentNode&&(t=Z(e)),r.insertBefore(e.__e,t||null)),t=e.__e);do t=t&&t.nextSibling;while(t!=null&&t.nodeType==8);return t}function En(e,t,r,o){var l,a,h,u=e.key,d=e.type,s=t[r],i=s!=null&&(2&s.__u)==0;if(s===null&&e.key==null||i&&u==s.key&&d==s.type)return r;if(o>(i?1:0)){for(l=r-1,a=r+1;l>=0||a<t.length;)if((s=t[h=l>=0?l--:a++])!=null&&(2&s.__u)==0&&u==s.key&&d==s.type)return h}return-1}function Le(e,t,r){t[0]=="-"?e.setProperty(t,r??""):e[t]=r==null?"":typeof r!="number"||kn.test(t)?r:r+"px"}function ie(e,t,r,o,l){var a,h;e:if(t=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)r&&t in r||Le(e.style,t,"");if(r)for(t in r)o&&r[t]==o[t]||Le(e.style,t,r[t])}else if(t[0]=="o"&&t[1]=="n")a=t!=(t=t.replace(ln,"$1")),h=t.toLowerCase(),t=h in e||t=="onFocusOut"||t=="onFocusIn"?h.slice(2):t.slice(2),e.l||(e.l={}),e.l[t+a]=r,r?o?r.u=o.u:(r.u=Je,e.addEventListener(t,a?ke:Ue,a)):e.removeEventListener(t,a?ke:Ue,a);else{if(l=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{e[t]=r??"";break e}catch{}typeof r=="function"||(r==null||r===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&r==1?"":r))}}function Oe(e){return function(t){if(this.l){var r=this.l[t.type+e];if(t.t==null)t.t=Je++;else if(t.t<r.u)return;return r(M.event?M.event(t):t)}}}function Pe(e,t,r,o,l,a,h,u,d,s){var i,c,p,m,v,S,_,g,y,b,k,$,C,R,N,T,U,w=t.type;if(t.constructor!=null)return null;128&r.__u&&(d=!!(32&r.__u),a=[u=t.__e=r.__e]),(i=M.__b)&&i(t);e:if(typeof w=="function")try{if(g=t.props,y="prototype"in w&&w.prototype.render,b=(i=w.contextType)&&o[i.__c],k=i?b?b.props.value:i.__:o,r.__c?_=(c=t.__c=r.__c).__=c.__E:(y?t.__c=c=new w(g,k):(t.__c=c=new de(g,k),c.constructor=w,c.render=Tn),b&&b.sub(c),c.props=g,c.state||(c.state={}),c.context=k,c.__n=o,p=c.__d=!0,c.__h=[],c._sb=[]),y&&c.__s==null&&(c.__s=c.state),y&&w.getDerivedStateFromProps!=null&&(c.__s==c.state&&(c.__s=V({},c.__s)),V(c.__s,w.getDerivedStateFromProps(g,c.__s))),m=c.props,v=c.state,c.__v=t,p)y&&w.getDerivedStateFromProps==null&&c.componentWillMount!=null&&c.componentWillMount(),y&&c.componentDidMount!=null&&c.__h.push(c.componentDidMount);else{if(y&&w.getDerivedStateFromProps==null&&g!==m&&c.componentWillReceiveProps!=null&&c.componentWillReceiveProps(g,k),!c.__e&&c.shouldComponentUpdate!=null&&c.shouldComponentUpdate(g,c.__s,k)===!1||t.__v==r.__v){for(t.__v!=r.__v&&(c.props=g,c.state=c.__s,c.__d=!1),t.__e=r.__e,t.__k=r.__k,t.__k.some(function(A){A&&(A.__=t)}),$=0;$<c._sb.length;$++)c.__h.push(c._sb[$]);c._sb=[],c.__h.length&&h.push(c);break e}c.componentWillUpdate!=null&&c.componentWillUpdate(g,c.__s,k),y&&c.componentDidUpdate!=null&&c.__h.push(function(){c.componentDidUpdate(m,v,S)})}if(c.context=k,c.props=g,c.__P=e,c.__e=!1,C=M.__r,R=0,y){for(c.state=c.__s,c.__d=!1,C&&C(t),i=c.render(c.props,c.state,c.context),N=0;N<c._sb.length;N++)c.__h.push(c._sb[N]);c._sb=[]}else do c.__d=!1,C&&C(t),i=c.render(c.props,c.state,c.context),c.state=c.__s;while(c.__d&&++R<25);c.state=c.__s,c.getChildContext!=null&&(o=V(V({},o),c.getChildContext())),y&&!p&&c.getSnapshotBeforeUpdate!=null&&(S=c.getSnapshotBeforeUpdate(m,v)),T=i,i!=null&&i.type===z&&i.key==null&&(T=hn(i.props.children)),u=cn(e,ve(T)?T:[T],t,r,o,l,a,h,u,d,s),c.base=t.__e,t.__u&=-161,c.__h.length&&h.push(c),_&&(c.__E=c.__=null)}catch(A){if(t.__v=null,d||a!=null)if(A.then){for(t.__u|=d?160:128;u&&u.nodeType==8&&u.nextSibling;)u=u.nextSibling;a[a.indexOf(u)]=null,t.__e=u}else{for(U=a.length;U--;)Ce(a[U]);xe(t)}else t.__e=r.__e,t.__k=r.__k,A.then||xe(t);M.__e(A,t,r)}else a==null&&t.__v==r.__v?(t.__k=r.__k,t.__e=r.__e):u=t.__e=Mn(r.__e,t,r,o,l,a,h,d,s);return(i=M.diffed)&&i(t),128&t.__u?void 0:u}function xe(e){e&&e.__c&&(e.__c.__e=!0),e&&e.__k&&e.__k.forEach(xe)}function un(e,t,r){for(var o=0;o<r.length;o++)Ne(r[o],r[++o],r[++o]);M.__c&&M.__c(t,e),e.some(function(l){try{e=l.__h,l.__h=[],e.some(function(a){a.call(l)})}catch(a){M.__e(a,l.__v)}})}function hn(e){return typeof e!="object"||e==null||e.__b&&e.__b>0?e:ve(e)?e.map(hn):V({},e)}function Mn(e,t,r,o,l,a,h,u,d){var s,i,c,p,m,v,S,_=r.props,g=t.props,y=t.type;if(y=="svg"?l="http://www.w3.org/2000/svg":y=="math"?l="http://www.w3.org/1998/Math/MathML":l||(l="http://www.w3.org/1999/xhtml"),a!=null){for(s=0;s<a.length;s++)if((m=a[s])&&"setAttribute"in m==!!y&&(y?m.localName==y:m.nodeType==3)){e=m,a[s]=null;break}}if(e==null){if(y==null)return document.createTextNode(g);e=document.createElementNS(l,y,g.is&&g),u&&(M.__m&&M.__m(t,a),u=!1),a=null}if(y==null)_===g||u&&e.data==g||(e.data=g);else{if(a=a&&ge.call(e.childNodes),_=r.props||re,!u&&a!=null)for(_={},s=0;s<e.attributes.length;s++)_[(m=e.attributes[s]).name]=m.value;for(s in _)if(m=_[s],s!="children"){if(s=="dangerouslySetInnerHTML")c=m;else if(!(s in g)){if(s=="value"&&"defaultValue"in g||s=="checked"&&"defaultChecked"in g)continue;ie(e,s,null,m,l)}}for(s in g)m=g[s],s=="children"?p=m:s=="dangerouslySetInnerHTML"?i=m:s=="value"?v=m:s=="checked"?S=m:u&&typeof m!="function"||_[s]===m||ie(e,s,m,_[s],l);if(i)u||c&&(i.__html==c.__html||i.__html==e.innerHTML)||(e.innerHTML=i.__html),t.__k=[];else if(c&&(e.innerHTML=""),cn(t.type=="template"?e.content:e,ve(p)?p:[p],t,r,o,y=="foreignObject"?"http://www.w3.org/1999/xhtml":l,a,h,a?a[0]:r.__k&&Z(r,0),u,d),a!=null)for(s=a.length;s--;)Ce(a[s]);u||(s="value",y=="progress"&&v==null?e.removeAttribute("value"):v!=null&&(v!==e[s]||y=="progress"&&!v||y=="option"&&v!=_[s])&&ie(e,s,v,_[s],l),s="checked",S!=null&&S!=e[s]&&ie(e,s,S,_[s],l))}return e}function Ne(e,t,r){try{if(typeof e=="function"){var o=typeof e.__u=="function";o&&e.__u(),o&&t==null||(e.__u=e(t))}else e.current=t}catch(l){M.__e(l,r)}}function pn(e,t,r){var o,l;if(M.unmount&&M.unmount(e),(o=e.ref)&&(o.current&&o.current!=e.__e||Ne(o,null,t)),(o=e.__c)!=null){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(a){M.__e(a,t)}o.base=o.__P=null}if(o=e.__k)for(l=0;l<o.length;l++)o[l]&&pn(o[l],t,r||typeof e.type!="function");r||Ce(e.__e),e.__c=e.__=e.__e=void 0}function Tn(e,t,r){return this.constructor(e,r)}function Jn(e,t,r){var o,l,a,h;t==document&&(t=document.documentElement),M.__&&M.__(e,t),l=(o=!1)?null:t.__k,a=[],h=[],Pe(t,e=t.__k=xn(z,null,[e]),l||re,re,t.namespaceURI,l?null:t.firstChild?ge.call(t.childNodes):null,a,l?l.__e:t.firstChild,o,h),un(a,e,h)}ge=an.slice,M={__e:function(e,t,r,o){for(var l,a,h;t=t.__;)if((l=t.__c)&&!l.__)try{if((a=l.constructor)&&a.getDerivedStateFromError!=null&&(l.setState(a.getDerivedStateFromError(e)),h=l.__d),l.componentDidCatch!=null&&(l.componentDidCatch(e,o||{}),h=l.__d),h)return l.__E=l}catch(u){e=u}throw e}},tn=0,de.prototype.setState=function(e,t){var r;r=this.__s!=null&&this.__s!=this.state?this.__s:this.__s=V({},this.state),typeof e=="function"&&(e=e(V({},r),this.props)),e&&V(r,e),e!=null&&this.__v&&(t&&this._sb.push(t),We(this))},de.prototype.forceUpdate=function(e){this.__v&&(this.__e=!0,e&&this.__h.push(e),We(this))},de.prototype.render=z,K=[],rn=typeof Promise=="function"?Promise.prototype.then.bind(Promise.resolve()):setTimeout,on=function(e,t){return e.__v.__b-t.__v.__b},me.__r=0,ln=/(PointerCapture)$|Capture$/i,Je=0,Ue=Oe(!1),ke=Oe(!0);var Cn=0;function n(e,t,r,o,l,a){t||(t={});var h,u,d=t;if("ref"in d)for(u in d={},t)u=="ref"?h=t[u]:d[u]=t[u];var s={type:e,props:d,key:r,ref:h,__k:null,__:null,__b:0,__e:null,__c:null,constructor:void 0,__v:--Cn,__i:-1,__u:0,__source:l,__self:a};if(typeof e=="function"&&(h=e.defaultProps))for(u in h)d[u]===void 0&&(d[u]=h[u]);return M.vnode&&M.vnode(s),s}var ee,J,we,qe,oe=0,mn=[],P=M,Be=P.__b,Ve=P.__r,Ge=P.diffed,Xe=P.__c,Ke=P.unmount,Ye=P.__;function be(e,t){P.__h&&P.__h(J,e,oe||t),oe=0;var r=J.__H||(J.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function E(e){return oe=1,Pn(gn,e)}function Pn(e,t,r){var o=be(ee++,2);if(o.t=e,!o.__c&&(o.__=[gn(void 0,t),function(u){var d=o.__N?o.__N[0]:o.__[0],s=o.t(d,u);d!==s&&(o.__N=[s,o.__[1]],o.__c.setState({}))}],o.__c=J,!J.__f)){var l=function(u,d,s){if(!o.__c.__H)return!0;var i=o.__c.__H.__.filter(function(p){return!!p.__c});if(i.every(function(p){return!p.__N}))return!a||a.call(this,u,d,s);var c=o.__c.props!==u;return i.forEach(function(p){if(p.__N){var m=p.__[0];p.__=p.__N,p.__N=void 0,m!==p.__[0]&&(c=!0)}}),a&&a.call(this,u,d,s)||c};J.__f=!0;var a=J.shouldComponentUpdate,h=J.componentWillUpdate;J.componentWillUpdate=function(u,d,s){if(this.__e){var i=a;a=void 0,l(u,d,s),a=i}h&&h.call(this,u,d,s)},J.shouldComponentUpdate=l}return o.__N||o.__}function O(e,t){var r=be(ee++,3);!P.__s&&ze(r.__H,t)&&(r.__=e,r.u=t,J.__H.__h.push(r))}function _n(e,t){var r=be(ee++,4);!P.__s&&ze(r.__H,t)&&(r.__=e,r.u=t,J.__h.push(r))}function I(e){return oe=5,De(function(){return{current:e}},[])}function De(e,t){var r=be(ee++,7);return ze(r.__H,t)&&(r.__=e(),r.__H=t,r.__h=e),r.__}function fn(e,t){return oe=8,De(function(){return e},t)}function Nn(){for(var e;e=mn.shift();)if(e.__P&&e.__H)try{e.__H.__h.forEach(ue),e.__H.__h.forEach($e),e.__H.__h=[]}catch(t){e.__H.__h=[],P.__e(t,e.__v)}}P.__b=function(e){J=null,Be&&Be(e)},P.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),Ye&&Ye(e,t)},P.__r=function(e){Ve&&Ve(e),ee=0;var t=(J=e.__c).__H;t&&(we===J?(t.__h=[],J.__h=[],t.__.forEach(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})):(t.__h.forEach(ue),t.__h.forEach($e),t.__h=[],ee=0)),we=J},P.diffed=function(e){Ge&&Ge(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&(mn.push(t)!==1&&qe===P.requestAnimationFrame||((qe=P.requestAnimationFrame)||Dn)(Nn)),t.__H.__.forEach(function(r){r.u&&(r.__H=r.u),r.u=void 0})),we=J=null},P.__c=function(e,t){t.some(function(r){try{r.__h.forEach(ue),r.__h=r.__h.filter(function(o){return!o.__||$e(o)})}catch(o){t.some(function(l){l.__h&&(l.__h=[])}),t=[],P.__e(o,r.__v)}}),Xe&&Xe(e,t)},P.unmount=function(e){Ke&&Ke(e);var t,r=e.__c;r&&r.__H&&(r.__H.__.forEach(function(o){try{ue(o)}catch(l){t=l}}),r.__H=void 0,t&&P.__e(t,r.__v))};var Qe=typeof requestAnimationFrame=="function";function Dn(e){var t,r=function(){clearTimeout(o),Qe&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(r,35);Qe&&(t=requestAnimationFrame(r))}function ue(e){var t=J,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),J=t}function $e(e){var t=J;e.__c=e.__(),J=t}function ze(e,t){return!e||e.length!==t.length||t.some(function(r,o){return r!==e[o]})}function gn(e,t){return typeof t=="function"?t(e):t}const zn=`mpg,cylinders,displacement,horsepower,weight,acceleration,model_year,origin,name
18.0,8,307.0,130,3504,12.0,1970-01-01,USA,chevrolet chevelle malibu
15.0,8,350.0,165,3693,11.5,1970-01-01,USA,buick skylark 320
18.0,8,318.0,150,3436,11.0,1970-01-01,USA,plymouth satellite
16.0,8,304.0,150,3433,12.0,1970-01-01,USA,amc rebel sst
17.0,8,302.0,140,3449,10.5,1970-01-01,USA,ford torino
15.0,8,429.0,198,4341,10.0,1970-01-01,USA,ford galaxie 500
14.0,8,454.0,220,4354,9.0,1970-01-01,USA,chevrolet impala
14.0,8,440.0,215,4312,8.5,1970-01-01,USA,plymouth fury iii
14.0,8,455.0,225,4425,10.0,1970-01-01,USA,pontiac catalina
15.0,8,390.0,190,3850,8.5,1970-01-01,USA,amc ambassador dpl
15.0,8,383.0,170,3563,10.0,1970-01-01,USA,dodge challenger se
14.0,8,340.0,160,3609,8.0,1970-01-01,USA,plymouth 'cuda 340
15.0,8,400.0,150,3761,9.5,1970-01-01,USA,chevrolet monte carlo
14.0,8,455.0,225,3086,10.0,1970-01-01,USA,buick estate wagon (sw)
24.0,4,113.0,95,2372,15.0,1970-01-01,Japan,toyota corona mark ii
22.0,6,198.0,95,2833,15.5,1970-01-01,USA,plymouth duster
18.0,6,199.0,97,2774,15.5,1970-01-01,USA,amc hornet
21.0,6,200.0,85,2587,16.0,1970-01-01,USA,ford maverick
27.0,4,97.0,88,2130,14.5,1970-01-01,Japan,datsun pl510
26.0,4,97.0,46,1835,20.5,1970-01-01,Europe,volkswagen 1131 deluxe sedan
25.0,4,110.0,87,2672,17.5,1970-01-01,Europe,peugeot 504
24.0,4,107.0,90,2430,14.5,1970-01-01,Europe,audi 100 ls
25.0,4,104.0,95,2375,17.5,1970-01-01,Europe,saab 99e
26.0,4,121.0,113,2234,12.5,1970-01-01,Europe,bmw 2002
21.0,6,199.0,90,2648,15.0,1970-01-01,USA,amc gremlin
10.0,8,360.0,215,4615,14.0,1970-01-01,USA,ford f250
10.0,8,307.0,200,4376,15.0,1970-01-01,USA,chevy c20
11.0,8,318.0,210,4382,13.5,1970-01-01,USA,dodge d200
9.0,8,304.0,193,4732,18.5,1970-01-01,USA,hi 1200d
27.0,4,97.0,88,2130,14.5,1971-01-01,Japan,datsun pl510
28.0,4,140.0,90,2264,15.5,1971-01-01,USA,chevrolet vega 2300
25.0,4,113.0,95,2228,14.0,1971-01-01,Japan,toyota corona
25.0,4,98.0,,2046,19.0,1971-01-01,USA,ford pinto
19.0,6,232.0,100,2634,13.0,1971-01-01,USA,amc gremlin
16.0,6,225.0,105,3439,15.5,1971-01-01,USA,plymouth satellite custom
17.0,6,250.0,100,3329,15.5,1971-01-01,USA,chevrolet chevelle malibu
19.0,6,250.0,88,3302,15.5,1971-01-01,USA,ford torino 500
18.0,6,232.0,100,3288,15.5,1971-01-01,USA,amc matador
14.0,8,350.0,165,4209,12.0,1971-01-01,USA,chevrolet impala
14.0,8,400.0,175,4464,11.5,1971-01-01,USA,pontiac catalina brougham
14.0,8,351.0,153,4154,13.5,1971-01-01,USA,ford galaxie 500
14.0,8,318.0,150,4096,13.0,1971-01-01,USA,plymouth fury iii
12.0,8,383.0,180,4955,11.5,1971-01-01,USA,dodge monaco (sw)
13.0,8,400.0,170,4746,12.0,1971-01-01,USA,ford country squire (sw)
13.0,8,400.0,175,5140,12.0,1971-01-01,USA,pontiac safari (sw)
18.0,6,258.0,110,2962,13.5,1971-01-01,USA,amc hornet sportabout (sw)
22.0,4,140.0,72,2408,19.0,1971-01-01,USA,chevrolet vega (sw)
19.0,6,250.0,100,3282,15.0,1971-01-01,USA,pontiac firebird
18.0,6,250.0,88,3139,14.5,1971-01-01,USA,ford mustang
23.0,4,122.0,86,2220,14.0,1971-01-01,USA,mercury capri 2000
28.0,4,116.0,90,2123,14.0,1971-01-01,Europe,opel 1900
30.0,4,79.0,70,2074,19.5,1971-01-01,Europe,peugeot 304
30.0,4,88.0,76,2065,14.5,1971-01-01,Europe,fiat 124b
31.0,4,71.0,65,1773,19.0,1971-01-01,Japan,toyota corolla 1200
35.0,4,72.0,69,1613,18.0,1971-01-01,Japan,datsun 1200
27.0,4,97.0,60,1834,19.0,1971-01-01,Europe,volkswagen model 111
26.0,4,91.0,70,1955,20.5,1971-01-01,USA,plymouth cricket
24.0,4,113.0,95,2278,15.5,1972-01-01,Japan,toyota corona hardtop
25.0,4,97.5,80,2126,17.0,1972-01-01,USA,dodge colt hardtop
23.0,4,97.0,54,2254,23.5,1972-01-01,Europe,volkswagen type 3
20.0,4,140.0,90,2408,19.5,1972-01-01,USA,chevrolet vega
21.0,4,122.0,86,2226,16.5,1972-01-01,USA,ford pinto runabout
13.0,8,350.0,165,4274,12.0,1972-01-01,USA,chevrolet impala
14.0,8,400.0,175,4385,12.0,1972-01-01,USA,pontiac catalina
15.0,8,318.0,150,4135,13.5,1972-01-01,USA,plymouth fury iii
14.0,8,351.0,153,4129,13.0,1972-01-01,USA,ford galaxie 500
17.0,8,304.0,150,3672,11.5,1972-01-01,USA,amc ambassador sst
11.0,8,429.0,208,4633,11.0,1972-01-01,USA,mercury marquis
13.0,8,350.0,155,4502,13.5,1972-01-01,USA,buick lesabre custom
12.0,8,350.0,160,4456,13.5,1972-01-01,USA,oldsmobile delta 88 royale
13.0,8,400.0,190,4422,12.5,1972-01-01,USA,chrysler newport royal
19.0,3,70.0,97,2330,13.5,1972-01-01,Japan,mazda rx2 coupe
15.0,8,304.0,150,3892,12.5,1972-01-01,USA,amc matador (sw)
13.0,8,307.0,130,4098,14.0,1972-01-01,USA,chevrolet chevelle concours (sw)
13.0,8,302.0,140,4294,16.0,1972-01-01,USA,ford gran torino (sw)
14.0,8,318.0,150,4077,14.0,1972-01-01,USA,plymouth satellite custom (sw)
18.0,4,121.0,112,2933,14.5,1972-01-01,Europe,volvo 145e (sw)
22.0,4,121.0,76,2511,18.0,1972-01-01,Europe,volkswagen 411 (sw)
21.0,4,120.0,87,2979,19.5,1972-01-01,Europe,peugeot 504 (sw)
26.0,4,96.0,69,2189,18.0,1972-01-01,Europe,renault 12 (sw)
22.0,4,122.0,86,2395,16.0,1972-01-01,USA,ford pinto (sw)
28.0,4,97.0,92,2288,17.0,1972-01-01,Japan,datsun 510 (sw)
23.0,4,120.0,97,2506,14.5,1972-01-01,Japan,toyouta corona mark ii (sw)
28.0,4,98.0,80,2164,15.0,1972-01-01,USA,dodge colt (sw)
27.0,4,97.0,88,2100,16.5,1972-01-01,Japan,toyota corolla 1600 (sw)
13.0,8,350.0,175,4100,13.0,1973-01-01,USA,buick century 350
14.0,8,304.0,150,3672,11.5,1973-01-01,USA,amc matador
13.0,8,350.0,145,3988,13.0,1973-01-01,USA,chevrolet malibu
14.0,8,302.0,137,4042,14.5,1973-01-01,USA,ford gran torino
15.0,8,318.0,150,3777,12.5,1973-01-01,USA,dodge coronet custom
12.0,8,429.0,198,4952,11.5,1973-01-01,USA,mercury marquis brougham
13.0,8,400.0,150,4464,12.0,1973-01-01,USA,chevrolet caprice classic
13.0,8,351.0,158,4363,13.0,1973-01-01,USA,ford ltd
14.0,8,318.0,150,4237,14.5,1973-01-01,USA,plymouth fury gran sedan
13.0,8,440.0,215,4735,11.0,1973-01-01,USA,chrysler new yorker brougham
12.0,8,455.0,225,4951,11.0,1973-01-01,USA,buick electra 225 custom
13.0,8,360.0,175,3821,11.0,1973-01-01,USA,amc ambassador brougham
18.0,6,225.0,105,3121,16.5,1973-01-01,USA,plymouth valiant
16.0,6,250.0,100,3278,18.0,1973-01-01,USA,chevrolet nova custom
18.0,6,232.0,100,2945,16.0,1973-01-01,USA,amc hornet
18.0,6,250.0,88,3021,16.5,1973-01-01,USA,ford maverick
23.0,6,198.0,95,2904,16.0,1973-01-01,USA,plymouth duster
26.0,4,97.0,46,1950,21.0,1973-01-01,Europe,volkswagen super beetle
11.0,8,400.0,150,4997,14.0,1973-01-01,USA,chevrolet impala
12.0,8,400.0,167,4906,12.5,1973-01-01,USA,ford country
13.0,8,360.0,170,4654,13.0,1973-01-01,USA,plymouth custom suburb
12.0,8,350.0,180,4499,12.5,1973-01-01,USA,oldsmobile vista cruiser
18.0,6,232.0,100,2789,15.0,1973-01-01,USA,amc gremlin
20.0,4,97.0,88,2279,19.0,1973-01-01,Japan,toyota carina
21.0,4,140.0,72,2401,19.5,1973-01-01,USA,chevrolet vega
22.0,4,108.0,94,2379,16.5,1973-01-01,Japan,datsun 610
18.0,3,70.0,90,2124,13.5,1973-01-01,Japan,maxda rx3
19.0,4,122.0,85,2310,18.5,1973-01-01,USA,ford pinto
21.0,6,155.0,107,2472,14.0,1973-01-01,USA,mercury capri v6
26.0,4,98.0,90,2265,15.5,1973-01-01,Europe,fiat 124 sport coupe
15.0,8,350.0,145,4082,13.0,1973-01-01,USA,chevrolet monte carlo s
16.0,8,400.0,230,4278,9.5,1973-01-01,USA,pontiac grand prix
29.0,4,68.0,49,1867,19.5,1973-01-01,Europe,fiat 128
24.0,4,116.0,75,2158,15.5,1973-01-01,Europe,opel manta
20.0,4,114.0,91,2582,14.0,1973-01-01,Europe,audi 100ls
19.0,4,121.0,112,2868,15.5,1973-01-01,Europe,volvo 144ea
15.0,8,318.0,150,3399,11.0,1973-01-01,USA,dodge dart custom
24.0,4,121.0,110,2660,14.0,1973-01-01,Europe,saab 99le
20.0,6,156.0,122,2807,13.5,1973-01-01,Japan,toyota mark ii
11.0,8,350.0,180,3664,11.0,1973-01-01,USA,oldsmobile omega
20.0,6,198.0,95,3102,16.5,1974-01-01,USA,plymouth duster
21.0,6,200.0,,2875,17.0,1974-01-01,USA,ford maverick
19.0,6,232.0,100,2901,16.0,1974-01-01,USA,amc hornet
15.0,6,250.0,100,3336,17.0,1974-01-01,USA,chevrolet nova
31.0,4,79.0,67,1950,19.0,1974-01-01,Japan,datsun b210
26.0,4,122.0,80,2451,16.5,1974-01-01,USA,ford pinto
32.0,4,71.0,65,1836,21.0,1974-01-01,Japan,toyota corolla 1200
25.0,4,140.0,75,2542,17.0,1974-01-01,USA,chevrolet vega
16.0,6,250.0,100,3781,17.0,1974-01-01,USA,chevrolet chevelle malibu classic
16.0,6,258.0,110,3632,18.0,1974-01-01,USA,amc matador
18.0,6,225.0,105,3613,16.5,1974-01-01,USA,plymouth satellite sebring
16.0,8,302.0,140,4141,14.0,1974-01-01,USA,ford gran torino
13.0,8,350.0,150,4699,14.5,1974-01-01,USA,buick century luxus (sw)
14.0,8,318.0,150,4457,13.5,1974-01-01,USA,dodge coronet custom (sw)
14.0,8,302.0,140,4638,16.0,1974-01-01,USA,ford gran torino (sw)
14.0,8,304.0,150,4257,15.5,1974-01-01,USA,amc matador (sw)
29.0,4,98.0,83,2219,16.5,1974-01-01,Europe,audi fox
26.0,4,79.0,67,1963,15.5,1974-01-01,Europe,volkswagen dasher
26.0,4,97.0,78,2300,14.5,1974-01-01,Europe,opel manta
31.0,4,76.0,52,1649,16.5,1974-01-01,Japan,toyota corona
32.0,4,83.0,61,2003,19.0,1974-01-01,Japan,datsun 710
28.0,4,90.0,75,2125,14.5,1974-01-01,USA,dodge colt
24.0,4,90.0,75,2108,15.5,1974-01-01,Europe,fiat 128
26.0,4,116.0,75,2246,14.0,1974-01-01,Europe,fiat 124 tc
24.0,4,120.0,97,2489,15.0,1974-01-01,Japan,honda civic
26.0,4,108.0,93,2391,15.5,1974-01-01,Japan,subaru
31.0,4,79.0,67,2000,16.0,1974-01-01,Europe,fiat x1.9
19.0,6,225.0,95,3264,16.0,1975-01-01,USA,plymouth valiant custom
18.0,6,250.0,105,3459,16.0,1975-01-01,USA,chevrolet nova
15.0,6,250.0,72,3432,21.0,1975-01-01,USA,mercury monarch
15.0,6,250.0,72,3158,19.5,1975-01-01,USA,ford maverick
16.0,8,400.0,170,4668,11.5,1975-01-01,USA,pontiac catalina
15.0,8,350.0,145,4440,14.0,1975-01-01,USA,chevrolet bel air
16.0,8,318.0,150,4498,14.5,1975-01-01,USA,plymouth grand fury
14.0,8,351.0,148,4657,13.5,1975-01-01,USA,ford ltd
17.0,6,231.0,110,3907,21.0,1975-01-01,USA,buick century
16.0,6,250.0,105,3897,18.5,1975-01-01,USA,chevroelt chevelle malibu
15.0,6,258.0,110,3730,19.0,1975-01-01,USA,amc matador
18.0,6,225.0,95,3785,19.0,1975-01-01,USA,plymouth fury
21.0,6,231.0,110,3039,15.0,1975-01-01,USA,buick skyhawk
20.0,8,262.0,110,3221,13.5,1975-01-01,USA,chevrolet monza 2+2
13.0,8,302.0,129,3169,12.0,1975-01-01,USA,ford mustang ii
29.0,4,97.0,75,2171,16.0,1975-01-01,Japan,toyota corolla
23.0,4,140.0,83,2639,17.0,1975-01-01,USA,ford pinto
20.0,6,232.0,100,2914,16.0,1975-01-01,USA,amc gremlin
23.0,4,140.0,78,2592,18.5,1975-01-01,USA,pontiac astro
24.0,4,134.0,96,2702,13.5,1975-01-01,Japan,toyota corona
25.0,4,90.0,71,2223,16.5,1975-01-01,Europe,volkswagen dasher
24.0,4,119.0,97,2545,17.0,1975-01-01,Japan,datsun 710
18.0,6,171.0,97,2984,14.5,1975-01-01,USA,ford pinto
29.0,4,90.0,70,1937,14.0,1975-01-01,Europe,volkswagen rabbit
19.0,6,232.0,90,3211,17.0,1975-01-01,USA,amc pacer
23.0,4,115.0,95,2694,15.0,1975-01-01,Europe,audi 100ls
23.0,4,120.0,88,2957,17.0,1975-01-01,Europe,peugeot 504
22.0,4,121.0,98,2945,14.5,1975-01-01,Europe,volvo 244dl
25.0,4,121.0,115,2671,13.5,1975-01-01,Europe,saab 99le
33.0,4,91.0,53,1795,17.5,1975-01-01,Japan,honda civic cvcc
28.0,4,107.0,86,2464,15.5,1976-01-01,Europe,fiat 131
25.0,4,116.0,81,2220,16.9,1976-01-01,Europe,opel 1900
25.0,4,140.0,92,2572,14.9,1976-01-01,USA,capri ii
26.0,4,98.0,79,2255,17.7,1976-01-01,USA,dodge colt
27.0,4,101.0,83,2202,15.3,1976-01-01,Europe,renault 12tl
17.5,8,305.0,140,4215,13.0,1976-01-01,USA,chevrolet chevelle malibu classic
16.0,8,318.0,150,4190,13.0,1976-01-01,USA,dodge coronet brougham
15.5,8,304.0,120,3962,13.9,1976-01-01,USA,amc matador
14.5,8,351.0,152,4215,12.8,1976-01-01,USA,ford gran torino
22.0,6,225.0,100,3233,15.4,1976-01-01,USA,plymouth valiant
22.0,6,250.0,105,3353,14.5,1976-01-01,USA,chevrolet nova
24.0,6,200.0,81,3012,17.6,1976-01-01,USA,ford maverick
22.5,6,232.0,90,3085,17.6,1976-01-01,USA,amc hornet
29.0,4,85.0,52,2035,22.2,1976-01-01,USA,chevrolet chevette
24.5,4,98.0,60,2164,22.1,1976-01-01,USA,chevrolet woody
29.0,4,90.0,70,1937,14.2,1976-01-01,Europe,vw rabbit
33.0,4,91.0,53,1795,17.4,1976-01-01,Japan,honda civic
20.0,6,225.0,100,3651,17.7,1976-01-01,USA,dodge aspen se
18.0,6,250.0,78,3574,21.0,1976-01-01,USA,ford granada ghia
18.5,6,250.0,110,3645,16.2,1976-01-01,USA,pontiac ventura sj
17.5,6,258.0,95,3193,17.8,1976-01-01,USA,amc pacer d/l
29.5,4,97.0,71,1825,12.2,1976-01-01,Europe,volkswagen rabbit
32.0,4,85.0,70,1990,17.0,1976-01-01,Japan,datsun b-210
28.0,4,97.0,75,2155,16.4,1976-01-01,Japan,toyota corolla
26.5,4,140.0,72,2565,13.6,1976-01-01,USA,ford pinto
20.0,4,130.0,102,3150,15.7,1976-01-01,Europe,volvo 245
13.0,8,318.0,150,3940,13.2,1976-01-01,USA,plymouth volare premier v8
19.0,4,120.0,88,3270,21.9,1976-01-01,Europe,peugeot 504
19.0,6,156.0,108,2930,15.5,1976-01-01,Japan,toyota mark ii
16.5,6,168.0,120,3820,16.7,1976-01-01,Europe,mercedes-benz 280s
16.5,8,350.0,180,4380,12.1,1976-01-01,USA,cadillac seville
13.0,8,350.0,145,4055,12.0,1976-01-01,USA,chevy c10
13.0,8,302.0,130,3870,15.0,1976-01-01,USA,ford f108
13.0,8,318.0,150,3755,14.0,1976-01-01,USA,dodge d100
31.5,4,98.0,68,2045,18.5,1977-01-01,Japan,honda Accelerationord cvcc
30.0,4,111.0,80,2155,14.8,1977-01-01,USA,buick opel isuzu deluxe
36.0,4,79.0,58,1825,18.6,1977-01-01,Europe,renault 5 gtl
25.5,4,122.0,96,2300,15.5,1977-01-01,USA,plymouth arrow gs
33.5,4,85.0,70,1945,16.8,1977-01-01,Japan,datsun f-10 hatchback
17.5,8,305.0,145,3880,12.5,1977-01-01,USA,chevrolet caprice classic
17.0,8,260.0,110,4060,19.0,1977-01-01,USA,oldsmobile cutlass supreme
15.5,8,318.0,145,4140,13.7,1977-01-01,USA,dodge monaco brougham
15.0,8,302.0,130,4295,14.9,1977-01-01,USA,mercury cougar brougham
17.5,6,250.0,110,3520,16.4,1977-01-01,USA,chevrolet concours
20.5,6,231.0,105,3425,16.9,1977-01-01,USA,buick skylark
19.0,6,225.0,100,3630,17.7,1977-01-01,USA,plymouth volare custom
18.5,6,250.0,98,3525,19.0,1977-01-01,USA,ford granada
16.0,8,400.0,180,4220,11.1,1977-01-01,USA,pontiac grand prix lj
15.5,8,350.0,170,4165,11.4,1977-01-01,USA,chevrolet monte carlo landau
15.5,8,400.0,190,4325,12.2,1977-01-01,USA,chrysler cordoba
16.0,8,351.0,149,4335,14.5,1977-01-01,USA,ford thunderbird
29.0,4,97.0,78,1940,14.5,1977-01-01,Europe,volkswagen rabbit custom
24.5,4,151.0,88,2740,16.0,1977-01-01,USA,pontiac sunbird coupe
26.0,4,97.0,75,2265,18.2,1977-01-01,Japan,toyota corolla liftback
25.5,4,140.0,89,2755,15.8,1977-01-01,USA,ford mustang ii 2+2
30.5,4,98.0,63,2051,17.0,1977-01-01,USA,chevrolet chevette
33.5,4,98.0,83,2075,15.9,1977-01-01,USA,dodge colt m/m
30.0,4,97.0,67,1985,16.4,1977-01-01,Japan,subaru dl
30.5,4,97.0,78,2190,14.1,1977-01-01,Europe,volkswagen dasher
22.0,6,146.0,97,2815,14.5,1977-01-01,Japan,datsun 810
21.5,4,121.0,110,2600,12.8,1977-01-01,Europe,bmw 320i
21.5,3,80.0,110,2720,13.5,1977-01-01,Japan,mazda rx-4
43.1,4,90.0,48,1985,21.5,1978-01-01,Europe,volkswagen rabbit custom diesel
36.1,4,98.0,66,1800,14.4,1978-01-01,USA,ford fiesta
32.8,4,78.0,52,1985,19.4,1978-01-01,Japan,mazda glc deluxe
39.4,4,85.0,70,2070,18.6,1978-01-01,Japan,datsun b210 gx
36.1,4,91.0,60,1800,16.4,1978-01-01,Japan,honda civic cvcc
19.9,8,260.0,110,3365,15.5,1978-01-01,USA,oldsmobile cutlass salon brougham
19.4,8,318.0,140,3735,13.2,1978-01-01,USA,dodge diplomat
20.2,8,302.0,139,3570,12.8,1978-01-01,USA,mercury monarch ghia
19.2,6,231.0,105,3535,19.2,1978-01-01,USA,pontiac phoenix lj
20.5,6,200.0,95,3155,18.2,1978-01-01,USA,chevrolet malibu
20.2,6,200.0,85,2965,15.8,1978-01-01,USA,ford fairmont (auto)
25.1,4,140.0,88,2720,15.4,1978-01-01,USA,ford fairmont (man)
20.5,6,225.0,100,3430,17.2,1978-01-01,USA,plymouth volare
19.4,6,232.0,90,3210,17.2,1978-01-01,USA,amc concord
20.6,6,231.0,105,3380,15.8,1978-01-01,USA,buick century special
20.8,6,200.0,85,3070,16.7,1978-01-01,USA,mercury zephyr
18.6,6,225.0,110,3620,18.7,1978-01-01,USA,dodge aspen
18.1,6,258.0,120,3410,15.1,1978-01-01,USA,amc concord d/l
19.2,8,305.0,145,3425,13.2,1978-01-01,USA,chevrolet monte carlo landau
17.7,6,231.0,165,3445,13.4,1978-01-01,USA,buick regal sport coupe (turbo)
18.1,8,302.0,139,3205,11.2,1978-01-01,USA,ford futura
17.5,8,318.0,140,4080,13.7,1978-01-01,USA,dodge magnum xe
30.0,4,98.0,68,2155,16.5,1978-01-01,USA,chevrolet chevette
27.5,4,134.0,95,2560,14.2,1978-01-01,Japan,toyota corona
27.2,4,119.0,97,2300,14.7,1978-01-01,Japan,datsun 510
30.9,4,105.0,75,2230,14.5,1978-01-01,USA,dodge omni
21.1,4,134.0,95,2515,14.8,1978-01-01,Japan,toyota celica gt liftback
23.2,4,156.0,105,2745,16.7,1978-01-01,USA,plymouth sapporo
23.8,4,151.0,85,2855,17.6,1978-01-01,USA,oldsmobile starfire sx
23.9,4,119.0,97,2405,14.9,1978-01-01,Japan,datsun 200-sx
20.3,5,131.0,103,2830,15.9,1978-01-01,Europe,audi 5000
17.0,6,163.0,125,3140,13.6,1978-01-01,Europe,volvo 264gl
21.6,4,121.0,115,2795,15.7,1978-01-01,Europe,saab 99gle
16.2,6,163.0,133,3410,15.8,1978-01-01,Europe,peugeot 604sl
31.5,4,89.0,71,1990,14.9,1978-01-01,Europe,volkswagen scirocco
29.5,4,98.0,68,2135,16.6,1978-01-01,Japan,honda Accelerationord lx
21.5,6,231.0,115,3245,15.4,1979-01-01,USA,pontiac lemans v6
19.8,6,200.0,85,2990,18.2,1979-01-01,USA,mercury zephyr 6
22.3,4,140.0,88,2890,17.3,1979-01-01,USA,ford fairmont 4
20.2,6,232.0,90,3265,18.2,1979-01-01,USA,amc concord dl 6
20.6,6,225.0,110,3360,16.6,1979-01-01,USA,dodge aspen 6
17.0,8,305.0,130,3840,15.4,1979-01-01,USA,chevrolet caprice classic
17.6,8,302.0,129,3725,13.4,1979-01-01,USA,ford ltd landau
16.5,8,351.0,138,3955,13.2,1979-01-01,USA,mercury grand marquis
18.2,8,318.0,135,3830,15.2,1979-01-01,USA,dodge st. regis
16.9,8,350.0,155,4360,14.9,1979-01-01,USA,buick estate wagon (sw)
15.5,8,351.0,142,4054,14.3,1979-01-01,USA,ford country squire (sw)
19.2,8,267.0,125,3605,15.0,1979-01-01,USA,chevrolet malibu classic (sw)
18.5,8,360.0,150,3940,13.0,1979-01-01,USA,chrysler lebaron town @ country (sw)
31.9,4,89.0,71,1925,14.0,1979-01-01,Europe,vw rabbit custom
34.1,4,86.0,65,1975,15.2,1979-01-01,Japan,maxda glc deluxe
35.7,4,98.0,80,1915,14.4,1979-01-01,USA,dodge colt hatchback custom
27.4,4,121.0,80,2670,15.0,1979-01-01,USA,amc spirit dl
25.4,5,183.0,77,3530,20.1,1979-01-01,Europe,mercedes benz 300d
23.0,8,350.0,125,3900,17.4,1979-01-01,USA,cadillac eldorado
27.2,4,141.0,71,3190,24.8,1979-01-01,Europe,peugeot 504
23.9,8,260.0,90,3420,22.2,1979-01-01,USA,oldsmobile cutlass salon brougham
34.2,4,105.0,70,2200,13.2,1979-01-01,USA,plymouth horizon
34.5,4,105.0,70,2150,14.9,1979-01-01,USA,plymouth horizon tc3
31.8,4,85.0,65,2020,19.2,1979-01-01,Japan,datsun 210
37.3,4,91.0,69,2130,14.7,1979-01-01,Europe,fiat strada custom
28.4,4,151.0,90,2670,16.0,1979-01-01,USA,buick skylark limited
28.8,6,173.0,115,2595,11.3,1979-01-01,USA,chevrolet citation
26.8,6,173.0,115,2700,12.9,1979-01-01,USA,oldsmobile omega brougham
33.5,4,151.0,90,2556,13.2,1979-01-01,USA,pontiac phoenix
41.5,4,98.0,76,2144,14.7,1980-01-01,Europe,vw rabbit
38.1,4,89.0,60,1968,18.8,1980-01-01,Japan,toyota corolla tercel
32.1,4,98.0,70,2120,15.5,1980-01-01,USA,chevrolet chevette
37.2,4,86.0,65,2019,16.4,1980-01-01,Japan,datsun 310
28.0,4,151.0,90,2678,16.5,1980-01-01,USA,chevrolet citation
26.4,4,140.0,88,2870,18.1,1980-01-01,USA,ford fairmont
24.3,4,151.0,90,3003,20.1,1980-01-01,USA,amc concord
19.1,6,225.0,90,3381,18.7,1980-01-01,USA,dodge aspen
34.3,4,97.0,78,2188,15.8,1980-01-01,Europe,audi 4000
29.8,4,134.0,90,2711,15.5,1980-01-01,Japan,toyota corona liftback
31.3,4,120.0,75,2542,17.5,1980-01-01,Japan,mazda 626
37.0,4,119.0,92,2434,15.0,1980-01-01,Japan,datsun 510 hatchback
32.2,4,108.0,75,2265,15.2,1980-01-01,Japan,toyota corolla
46.6,4,86.0,65,2110,17.9,1980-01-01,Japan,mazda glc
27.9,4,156.0,105,2800,14.4,1980-01-01,USA,dodge colt
40.8,4,85.0,65,2110,19.2,1980-01-01,Japan,datsun 210
44.3,4,90.0,48,2085,21.7,1980-01-01,Europe,vw rabbit c (diesel)
43.4,4,90.0,48,2335,23.7,1980-01-01,Europe,vw dasher (diesel)
36.4,5,121.0,67,2950,19.9,1980-01-01,Europe,audi 5000s (diesel)
30.0,4,146.0,67,3250,21.8,1980-01-01,Europe,mercedes-benz 240d
44.6,4,91.0,67,1850,13.8,1980-01-01,Japan,honda civic 1500 gl
40.9,4,85.0,,1835,17.3,1980-01-01,Europe,renault lecar deluxe
33.8,4,97.0,67,2145,18.0,1980-01-01,Japan,subaru dl
29.8,4,89.0,62,1845,15.3,1980-01-01,Europe,vokswagen rabbit
32.7,6,168.0,132,2910,11.4,1980-01-01,Japan,datsun 280-zx
23.7,3,70.0,100,2420,12.5,1980-01-01,Japan,mazda rx-7 gs
35.0,4,122.0,88,2500,15.1,1980-01-01,Europe,triumph tr7 coupe
23.6,4,140.0,,2905,14.3,1980-01-01,USA,ford mustang cobra
32.4,4,107.0,72,2290,17.0,1980-01-01,Japan,honda Accelerationord
27.2,4,135.0,84,2490,15.7,1982-01-01,USA,plymouth reliant
26.6,4,151.0,84,2635,16.4,1982-01-01,USA,buick skylark
25.8,4,156.0,92,2620,14.4,1982-01-01,USA,dodge aries wagon (sw)
23.5,6,173.0,110,2725,12.6,1982-01-01,USA,chevrolet citation
30.0,4,135.0,84,2385,12.9,1982-01-01,USA,plymouth reliant
39.1,4,79.0,58,1755,16.9,1982-01-01,Japan,toyota starlet
39.0,4,86.0,64,1875,16.4,1982-01-01,USA,plymouth champ
35.1,4,81.0,60,1760,16.1,1982-01-01,Japan,honda civic 1300
32.3,4,97.0,67,2065,17.8,1982-01-01,Japan,subaru
37.0,4,85.0,65,1975,19.4,1982-01-01,Japan,datsun 210
37.7,4,89.0,62,2050,17.3,1982-01-01,Japan,toyota tercel
34.1,4,91.0,68,1985,16.0,1982-01-01,Japan,mazda glc 4
34.7,4,105.0,63,2215,14.9,1982-01-01,USA,plymouth horizon 4
34.4,4,98.0,65,2045,16.2,1982-01-01,USA,ford escort 4w
29.9,4,98.0,65,2380,20.7,1982-01-01,USA,ford escort 2h
33.0,4,105.0,74,2190,14.2,1982-01-01,Europe,volkswagen jetta
34.5,4,100.0,,2320,15.8,1982-01-01,Europe,renault 18i
33.7,4,107.0,75,2210,14.4,1982-01-01,Japan,honda prelude
32.4,4,108.0,75,2350,16.8,1982-01-01,Japan,toyota corolla
32.9,4,119.0,100,2615,14.8,1982-01-01,Japan,datsun 200sx
31.6,4,120.0,74,2635,18.3,1982-01-01,Japan,mazda 626
28.1,4,141.0,80,3230,20.4,1982-01-01,Europe,peugeot 505s turbo diesel
30.7,6,145.0,76,3160,19.6,1982-01-01,Europe,volvo diesel
25.4,6,168.0,116,2900,12.6,1982-01-01,Japan,toyota cressida
24.2,6,146.0,120,2930,13.8,1982-01-01,Japan,datsun 810 maxima
22.4,6,231.0,110,3415,15.8,1982-01-01,USA,buick century
26.6,8,350.0,105,3725,19.0,1982-01-01,USA,oldsmobile cutlass ls
20.2,6,200.0,88,3060,17.1,1982-01-01,USA,ford granada gl
17.6,6,225.0,85,3465,16.6,1982-01-01,USA,chrysler lebaron salon
28.0,4,112.0,88,2605,19.6,1982-01-01,USA,chevrolet cavalier
27.0,4,112.0,88,2640,18.6,1982-01-01,USA,chevrolet cavalier wagon
34.0,4,112.0,88,2395,18.0,1982-01-01,USA,chevrolet cavalier 2-door
31.0,4,112.0,85,2575,16.2,1982-01-01,USA,pontiac j2000 se hatchback
29.0,4,135.0,84,2525,16.0,1982-01-01,USA,dodge aries se
27.0,4,151.0,90,2735,18.0,1982-01-01,USA,pontiac phoenix
24.0,4,140.0,92,2865,16.4,1982-01-01,USA,ford fairmont futura
23.0,4,151.0,,3035,20.5,1982-01-01,USA,amc concord dl
36.0,4,105.0,74,1980,15.3,1982-01-01,Europe,volkswagen rabbit l
37.0,4,91.0,68,2025,18.2,1982-01-01,Japan,mazda glc custom l
31.0,4,91.0,68,1970,17.6,1982-01-01,Japan,mazda glc custom
38.0,4,105.0,63,2125,14.7,1982-01-01,USA,plymouth horizon miser
36.0,4,98.0,70,2125,17.3,1982-01-01,USA,mercury lynx l
36.0,4,120.0,88,2160,14.5,1982-01-01,Japan,nissan stanza xe
36.0,4,107.0,75,2205,14.5,1982-01-01,Japan,honda Accelerationord
34.0,4,108.0,70,2245,16.9,1982-01-01,Japan,toyota corolla
38.0,4,91.0,67,1965,15.0,1982-01-01,Japan,honda civic
32.0,4,91.0,67,1965,15.7,1982-01-01,Japan,honda civic (auto)
38.0,4,91.0,67,1995,16.2,1982-01-01,Japan,datsun 310 gx
25.0,6,181.0,110,2945,16.4,1982-01-01,USA,buick century limited
38.0,6,262.0,85,3015,17.0,1982-01-01,USA,oldsmobile cutlass ciera (diesel)
26.0,4,156.0,92,2585,14.5,1982-01-01,USA,chrysler lebaron medallion
22.0,6,232.0,112,2835,14.7,1982-01-01,USA,ford granada l
32.0,4,144.0,96,2665,13.9,1982-01-01,Japan,toyota celica gt
36.0,4,135.0,84,2370,13.0,1982-01-01,USA,dodge charger 2.2
27.0,4,151.0,90,2950,17.3,1982-01-01,USA,chevrolet camaro
27.0,4,140.0,86,2790,15.6,1982-01-01,USA,ford mustang gl
44.0,4,97.0,52,2130,24.6,1982-01-01,Europe,vw pickup
32.0,4,135.0,84,2295,11.6,1982-01-01,USA,dodge rampage
28.0,4,120.0,79,2625,18.6,1982-01-01,USA,ford ranger
31.0,4,119.0,82,2720,19.4,1982-01-01,USA,chevy s-10
`;function x(e,t=4){if(e==null||!Number.isFinite(e))return"–";const r=Math.abs(e);return r!==0&&(r>=1e7||r<1e-4)?e.toExponential(2).replace("-","−"):String(Number(e.toPrecision(t))).replace("-","−")}function vn(e,t,r){const o=(t-e)/Math.max(1,r);if(!(o>0)||!Number.isFinite(o))return[e];const l=10**Math.floor(Math.log10(o)),a=l*([1,2,5,10].find(d=>d*l>=o)??10),h=Math.ceil(e/a-1e-9),u=Math.floor(t/a+1e-9);return Array.from({length:Math.min(50,u-h+1)},(d,s)=>(h+s)*a)}function Ee(e,t,r){if(t.length>0)return[-.6,t.length-.4];let[o,l]=[1/0,-1/0];for(const d of e)for(const s of d)s!==null&&(s<o&&(o=s),s>l&&(l=s));if(o>l)return r??[0,1];const a=(l-o)*.04||Math.abs(l)*.1||1,[h,u]=[o-a,l+a];return r?[Math.min(h,r[0]),Math.max(u,r[1])]:[h,u]}const Rn=e=>((e*2654435761>>>0)%1e3/1e3-.5)*.5,L={left:58,right:52,top:52,bottom:44};function bn(e){const[,t]=E(0);O(()=>{const r=()=>t(a=>a+1),o=matchMedia("(prefers-color-scheme: dark)"),l=new ResizeObserver(r);return e.current?.parentElement&&l.observe(e.current.parentElement),o.addEventListener("change",r),()=>{l.disconnect(),o.removeEventListener("change",r)}},[])}function jn({data:e,names:t,byGroup:r,since:o}){const l=I(null),a=I(null),h=I(null),[u,d]=E(null),s=e.synthetic.group.length>0&&r;bn(l),_n(()=>{const S=l.current;if(!S)return;const _=t.join("\0"),g=h.current?.key===_?h.current:null,y=$=>[e.original.values[$],e.synthetic.values[$]],b=Ee(y(0),e.levels[0],g?.xs),k=Ee(y(1),e.levels[1],g?.ys);if(h.current={key:_,xs:b,ys:k},a.current=wn(S,e,t,s,{xs:b,ys:k},u),o!==void 0&&o>0){const $=Math.round((performance.now()-o)*10)/10;S.dataset.latency=String($)}});const i=u===null?null:In(e,t,u),c=u===null||!a.current?null:le(e,a.current,u),p=e.original.source.length+e.synthetic.source.length,m=S=>{const _=l.current;if(!_||!a.current)return;const g=_.getBoundingClientRect();d(Fn(e,a.current,S.clientX-g.left,S.clientY-g.top))},v=S=>{const _={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1}[S.key];if(S.key==="Escape"&&d(null),_===void 0||p===0)return;S.preventDefault();const g=e.original.source.length;d(((u===null?g-1:u)+_+p)%p)};return n("div",{class:"picture",children:[n("canvas",{ref:l,tabIndex:0,role:"img","aria-label":`${t[1]} against ${t[0]}: ${e.original.source.length} original rows and ${e.synthetic.source.length} synthetic rows. Arrow keys go through the rows.`,onPointerMove:m,onPointerDown:m,onPointerLeave:()=>d(null),onBlur:()=>d(null),onKeyDown:v}),i&&c&&n("div",{class:"tip",style:Hn(c,l.current),children:i}),n("div",{class:"hidden","aria-live":"polite",children:i}),n("p",{class:s?"key":"key hues",children:[n("span",{children:[n("i",{class:"original"}),"original"]}),n("span",{children:[n("i",{class:"synthetic"}),"synthetic"]}),s&&n("span",{children:"colors are groups"})]})]})}function Hn([e,t],r){const o=r?.clientWidth??600,l=e>o/2;return{top:`${t+12}px`,...l?{right:`${o-e+8}px`}:{left:`${e+8}px`}}}function Re(e,t){const r=e.original.source.length;return t<r?{points:e.original,row:t,made:!1}:{points:e.synthetic,row:t-r,made:!0}}function le(e,t,r){const{points:o,row:l}=Re(e,r),[a,h]=[o.values[0][l],o.values[1][l]];if(a==null||h==null)return null;const u=(d,s)=>s+(e.levels[d].length?Rn(l+d):0);return[t.x(u(0,a)),t.y(u(1,h))]}function Fn(e,t,r,o){const l=e.original.source.length+e.synthetic.source.length;let[a,h]=[14**2,null];for(let u=0;u<l;u++){const d=le(e,t,u);if(!d)continue;const s=(d[0]-r)**2+(d[1]-o)**2;s<=a&&([a,h]=[s,u])}return h}function Me(e,t){return t==null?-1:e.original.source.indexOf(t)}function In(e,t,r){const{points:o,row:l,made:a}=Re(e,r),h=(p,m,v)=>{const S=p.values[v][m],_=S==null?void 0:e.levels[v][S];return`${t[v]} ${_??x(S)}`},u=(p,m)=>`${h(p,m,0)}, ${h(p,m,1)}`;if(!a)return`Row ${o.source[l]} of the table
${u(o,l)}`;const d=["Synthetic row",u(o,l)],s=Me(e,o.source[l]);s>=0&&d.push(`from row ${o.source[l]}: ${u(e.original,s)}`);const i=Me(e,o.partner[l]);i>=0&&d.push(`mixed with row ${o.partner[l]}: ${u(e.original,i)}`);const c=[];return o.group[l]!=null&&c.push(`group ${o.group[l]}`),o.strength[l]!=null&&c.push(`${o.group.length?"γ":"λ"} = ${x(o.strength[l],3)}`),c.length&&d.push(c.join(", ")),d.join(`
`)}const X=(e,t)=>e.getPropertyValue(`--${t}`).trim();function wn(e,t,r,o,{xs:l,ys:a},h){const u=e.parentElement?.clientWidth??600,d=Math.round(Math.min(560,Math.max(300,u*.72))),s=window.devicePixelRatio||1;(e.width!==Math.round(u*s)||e.height!==Math.round(d*s))&&(e.width=Math.round(u*s),e.height=Math.round(d*s),e.style.height=`${d}px`);const i=e.getContext("2d"),c=getComputedStyle(e);i.setTransform(s,0,0,s,0,0),i.clearRect(0,0,u,d);const[p,m]=[u-L.right,d-L.bottom],v=U=>L.left+(U-l[0])/(l[1]-l[0])*(p-L.left),S=U=>m-(U-a[0])/(a[1]-a[0])*(m-L.top),_={x:v,y:S,xs:l,ys:a},g=X(c,"ink"),y=X(c,"faint");i.font="12px system-ui, sans-serif",i.strokeStyle=X(c,"grid"),i.fillStyle=y,i.lineWidth=1,i.textAlign="center",i.textBaseline="top";const b=(U,w)=>{const A=t.levels[U][w];return A===void 0?x(w):A.length>9?`${A.slice(0,8)}…`:A},k=(U,[w,A],j)=>t.levels[U].length?t.levels[U].map((W,F)=>F):vn(w,A,j);for(const U of k(0,l,u/90))_e(i,v(U),L.top,v(U),m),i.fillText(b(0,U),v(U),m+6);i.textAlign="right",i.textBaseline="middle";for(const U of k(1,a,d/60))_e(i,L.left,S(U),p,S(U)),i.fillText(b(1,U),L.left-6,S(U));i.fillStyle=g,i.font="600 13px system-ui, sans-serif",i.textAlign="center",i.textBaseline="alphabetic",i.fillText(Ze(r[0]),(L.left+p)/2,d-6),i.save(),i.translate(13,(L.top+m)/2),i.rotate(-Math.PI/2),i.fillText(Ze(r[1]),0,0),i.restore();const $=[X(c,"c0"),X(c,"c1")],C=Array.from({length:12},(U,w)=>X(c,`c${w}`)),R=(U,w,A)=>{const j=U.group[w];return o&&j!=null?C[j%12]:$[A?1:0]},N=t.original.source.length+t.synthetic.source.length,T=N>8e3?1.5:N>2500?2.2:3;for(const[U,w]of[[t.synthetic,!0],[t.original,!1]]){i.globalAlpha=w?.75:.85,i.lineWidth=1.3;const A=w?t.original.source.length:0,j=new Map;for(let W=0;W<U.source.length;W++){const F=le(t,_,A+W);if(!F)continue;const te=R(U,W,w);let Q=j.get(te);Q||j.set(te,Q=new Path2D),Q.moveTo(F[0]+T,F[1]),Q.arc(F[0],F[1],T,0,2*Math.PI)}for(const[W,F]of j)i.strokeStyle=i.fillStyle=W,w?i.stroke(F):i.fill(F)}return i.globalAlpha=1,en(i,t,0,_,$,L.top-6,p,m),en(i,t,1,_,$,p+6,p,m),h!==null&&Wn(i,t,_,h,g),_}function _e(e,t,r,o,l){e.beginPath(),e.moveTo(t,r),e.lineTo(o,l),e.stroke()}const Ze=e=>e.length>40?`${e.slice(0,39)}…`:e;function en(e,t,r,o,[l,a],h,u,d){const s=t.levels[r].length,i=s||28,[c,p]=r===0?o.xs:o.ys,m=[t.original,t.synthetic].map(g=>{const y=new Array(i).fill(0);let b=0;for(const k of g.values[r]){if(k===null)continue;const $=Math.min(i-1,Math.max(0,Math.floor((k-c)/(p-c)*i)));y[s?k:$]+=1,b+=1}return y.map(k=>k/Math.max(1,b))}),v=Math.max(1e-9,...m.flat()),S=40,_=g=>s?g-.5:c+(p-c)*g/i;m.forEach((g,y)=>{g.every(b=>b===0)||(e.beginPath(),g.forEach((b,k)=>{const[$,C]=[_(k),_(k+1)],R=b/v*S;if(r===0){const[N,T]=[o.x($),Math.min(u,o.x(C))];e.rect(N,h-R,T-N,R)}else{const[N,T]=[o.y(C),Math.min(d,o.y($))];e.rect(h,N,R,T-N)}}),e.globalAlpha=y===0?.3:.95,e.lineWidth=1.2,y===0?(e.fillStyle=l,e.fill()):(e.strokeStyle=a,e.stroke()))}),e.globalAlpha=1}function Wn(e,t,r,o,l){const{points:a,row:h,made:u}=Re(t,o),d=le(t,r,o);if(d){if(e.strokeStyle=l,e.lineWidth=1.5,u)for(const s of[a.source[h],a.partner[h]]){const i=Me(t,s),c=i<0?null:le(t,r,i);c&&(_e(e,c[0],c[1],d[0],d[1]),e.strokeRect(c[0]-4,c[1]-4,8,8))}e.beginPath(),e.arc(d[0],d[1],6,0,2*Math.PI),e.stroke()}}function Ln({y:e,predicted:t,name:r}){const o=[],l={values:[e,t],source:e.map((d,s)=>s),partner:o,group:o,strength:o},a=[...e,...t],h=[Math.min(...a),Math.max(...a)],u=I(null);return bn(u),O(()=>{const d=u.current;if(!d)return;const i={original:l,synthetic:{values:[[],[]],source:[],partner:[],group:[],strength:[]},levels:[[],[]]},c=Ee([h],[]),p=wn(d,i,[`${r}, true`,`${r}, predicted`],!1,{xs:c,ys:c},null),m=d.getContext("2d");m.strokeStyle=X(getComputedStyle(d),"ink"),m.lineWidth=1,m.setLineDash([5,4]),_e(m,p.x(c[0]),p.y(c[0]),p.x(c[1]),p.y(c[1])),m.setLineDash([])}),n("div",{class:"picture",children:n("canvas",{ref:u,role:"img","aria-label":`Predicted against true ${r} of ${e.length} held-out rows`})})}function On({of:e,name:t}){const r="counts"in e?e.counts.map((d,s)=>[x(e.low+(e.high-e.low)*s/e.counts.length),d]):[...e.levels,...e.others>0?[["others",e.others]]:[]],o=Math.max(1,...r.map(([,d])=>d)),[l,a]=[128,36],h=Math.min(24,l/Math.max(1,r.length)),u="counts"in e?`from ${x(e.low)} to ${x(e.high)}`:r.slice(0,4).map(([d,s])=>`${d} (${s})`).join(", ");return n("svg",{viewBox:`0 0 ${l} ${a}`,preserveAspectRatio:"none",role:"img","aria-label":`Histogram of ${t}: ${u}`,children:[n("line",{x1:"0",x2:l,y1:a-.5,y2:a-.5,stroke:"var(--rule)"}),r.map(([d,s],i)=>{const c=s/o*(a-2);return n("rect",{class:"bar",x:i*h+.5,y:a-1-c,width:Math.max(.5,h-1),height:c,children:n("title",{children:`${d}: ${s}`})})})]})}function qn({candidates:e,events:t,lines:r}){const o=I(null),[l,a]=E(700);O(()=>{const _=new ResizeObserver(()=>a(Math.max(300,o.current?.clientWidth??700)));return o.current&&_.observe(o.current),()=>_.disconnect()},[]);const h=new Map(t.map(_=>[`${_.candidate}/${_.repeat}/${_.fold}`,_.rmse])),d=e.map((_,g)=>{const y=t.flatMap(b=>{if(b.candidate!==g||_.reference===null||_.reference===g)return[];const k=h.get(`${_.reference}/${b.repeat}/${b.fold}`);return k===void 0?[]:[100*(b.rmse/k-1)]});return{candidate:_,place:g,dots:y}}).filter(({candidate:_,place:g})=>_.reference!==null&&_.reference!==g),s=d.flatMap(({dots:_})=>_.map(g=>Math.abs(g))).sort((_,g)=>_-g),i=Math.max(5,Math.min(120,1.1*(s[Math.floor(s.length*.97)]??5))),c=Math.min(150,l*.36),[p,m]=[30,24],v=_=>c+8+(Math.max(-i,Math.min(i,_))+i)/(2*i)*(l-c-24),S=m+d.length*p+8;return n("div",{ref:o,children:[n("svg",{class:"dots",viewBox:`0 0 ${l} ${S}`,role:"img","aria-label":"Change in RMSE compared with no augmentation, one dot for every split",children:[vn(-i,i,l/75).map(_=>n("g",{children:[n("line",{class:_===0?"zero":"",x1:v(_),x2:v(_),y1:m-4,y2:S-6}),n("text",{class:"tick",x:v(_),y:"13","text-anchor":"middle",children:`${_>0?"+":""}${x(_)} %`})]},_)),d.map(({candidate:_,dots:g},y)=>{const b=m+y*p+p/2,k=g.reduce((C,R)=>C+R,0)/g.length,$=r?.find(C=>C.name===_.name);return n("g",{children:[n("text",{x:c,y:b+4,"text-anchor":"end",children:_.name.length>19?`${_.name.slice(0,18)}…`:_.name}),$?.low!=null&&$.high!=null&&n("line",{class:"interval",x1:v($.low),x2:v($.high),y1:b+8,y2:b+8}),g.map(C=>n("circle",{cx:v(C),cy:b,r:"4"})),g.length>0&&n("line",{class:"mean",x1:v(k),x2:v(k),y1:b-8,y2:b+8})]},_.name)})]}),n("p",{class:"about small",children:["Dot: one split. Vertical line: their mean.",r&&" Orange: 95 % interval of the expected change."]})]})}class fe extends Error{constructor(t,r){super(t),this.hint=r}}async function q(e,t){const r=t instanceof Blob;let o;try{o=await fetch(`api/${e}`,t===void 0?{}:{method:"POST",body:r?t:JSON.stringify(t)})}catch{throw new fe("The server does not answer.","start windlass studio again, and open its new address")}const l=await o.json();if(!o.ok)throw new fe(l.error,l.hint);return l}const ye={table:0,target:[],roles:{},nulls:[],sheet:null,drop_missing_target:!1,seed:0,split:"",method:"ada",params:{},copies:null,rare:null,clip:!1,format:"csv",methods:null,models:null,folds:null,repeats:null,resume:!1},Bn=["Table","Augment","Does it help?","Model"],Se=e=>`${e>0?"+":e<0?"−":""}${Math.abs(e).toFixed(1)} %`,he=e=>e<1e6?`${Math.ceil(e/1e3)} kB`:`${(e/1e6).toFixed(1)} MB`,nn={target:"target",continuous:"number",categorical:"category",date:"date",carried:"keep, do not use",excluded:"omit",weight:"row weight"},Y=(e,t)=>`${e.toLocaleString("en-US")} ${t}${e===1?"":"s"}`;function G({error:e}){if(!e)return null;const{message:t,hint:r}=e;return n("div",{class:"error",role:"alert",children:[n("b",{children:t}),r&&n("div",{children:["Hint: ",r]})]})}function ne({script:e}){const[t,r]=E(!1),[o,l]=E(!1);if(!e)return null;const a=t?e.python:e.command;return n("section",{class:"script","aria-label":"The same in a terminal or in Python",children:[n("div",{class:"row",children:[n("span",{class:"row",style:{margin:0},children:[n("button",{"aria-pressed":!t,onClick:()=>r(!1),children:"Command"}),n("button",{"aria-pressed":t,onClick:()=>r(!0),children:"Python"})]}),n("button",{onClick:async()=>{await navigator.clipboard.writeText(a),l(!0),setTimeout(()=>l(!1),1500)},children:o?"Copied":"Copy"})]}),n("pre",{tabIndex:0,children:a})]})}function yn({take:e,little:t,children:r}){const[o,l]=E(!1),a=I(null),h=u=>{const d=u?.[0];d&&e(d)};return n("div",{class:`drop${o?" over":""}${t?" little":""}`,onDragOver:u=>{u.preventDefault(),l(!0)},onDragLeave:()=>l(!1),onDrop:u=>{u.preventDefault(),l(!1),h(u.dataTransfer?.files)},children:[n("h2",{children:t?"Drop new rows here to predict them":"Drop a table here"}),n("div",{class:"row",children:[n("button",{class:t?"":"main",onClick:()=>a.current?.click(),children:"Choose a file"}),r]}),n("input",{ref:a,type:"file",class:"hidden",tabIndex:-1,"aria-label":t?"File of rows to predict":"Table file",accept:".csv,.tsv,.txt,.gz,.zst,.parquet,.arrow,.arrows,.feather,.xlsx,.ods",onChange:u=>{h(u.currentTarget.files),u.currentTarget.value=""}}),n("div",{class:"about small",children:"CSV, TSV, Parquet, Arrow, Excel or OpenDocument"})]})}function ae(e,t){const[r,o]=E(null),[l,a]=E(null),h=I([]),u=I(0),d=fn(async()=>{clearTimeout(u.current);try{const p=await q(`job/${e}?since=${h.current.length}`);if(!p)return o(null);h.current=[...h.current,...p.events],o({...p,events:h.current}),p.status==="running"&&(u.current=window.setTimeout(d,250))}catch(p){a(p)}},[e]);O(()=>(t&&d(),()=>clearTimeout(u.current)),[]);const s=async p=>{a(null);try{await q(`job/${e}`,p),h.current=[],await d()}catch(m){a(m)}},i=()=>q(`job/${e}/stop`,{}).then(d,a),c=r?.status==="failed"?new fe(r.error??"",r.hint):null;return{view:r,start:s,stop:i,running:r?.status==="running",error:l??c}}function se({job:e,what:t}){if(!e.running||!e.view)return null;const{done:r,all:o,stage:l,stopping:a,seconds:h}=e.view,u=o>0&&r>2&&r<o?`, about ${Math.ceil(h/r*(o-r))} s left`:"";return n("div",{class:"row",role:"status",children:[n("progress",{"aria-label":t,...o>0?{value:Math.min(r,o),max:o}:{}}),n("span",{class:"small about",children:a?"stopping…":`${l}${o>0?`: ${r} of ${o}`:""}${u}`}),n("button",{onClick:e.stop,disabled:a,children:"Stop"})]})}function Vn({settings:e,change:t,table:r,go:o}){const l=e.target[0]??"",a=r.columns.filter(i=>i.range!==null&&i.role!=="excluded"),h=(i,c)=>{const{[i]:p,...m}=e.roles,v=e.target.filter(S=>S!==i);t(c==="target"?{target:[...v,i],roles:m}:{target:v,roles:c==="auto"?m:{...m,[i]:c}})},u=i=>{const{[i]:c,...p}=e.roles;t({target:i?[i]:[],roles:p})},d=i=>t({...i,...i.sheet?{target:[],roles:{}}:{},...i.roles?{roles:{...e.roles,...i.roles}}:{},...i.nulls?{nulls:[...e.nulls,...i.nulls]}:{}}),s=e.nulls.length>0||e.sheet!==null||e.drop_missing_target||Object.keys(e.roles).length>0||e.split!=="";return n(z,{children:[n("h1",{children:r.name}),n("p",{class:"about",children:[Y(r.rows,"row"),", ",Y(r.columns.length,"column")]}),n("div",{class:"row",children:[n("label",{children:[n("b",{children:"Predict"}),n("select",{"aria-label":"Target: the column to predict",value:l,onChange:i=>u(i.currentTarget.value),children:[n("option",{value:"",children:"choose a column…"}),a.map(({name:i})=>n("option",{value:i,children:i}))]})]}),e.target.length>1&&n("span",{class:"about",children:["and ",e.target.slice(1).join(", ")]}),l&&!r.notes.some(i=>i.problem)&&n("button",{class:"main",onClick:()=>o(1),children:"See augmentation"}),s&&n("button",{onClick:()=>t({nulls:[],sheet:null,drop_missing_target:!1,roles:{},split:""}),children:"Undo all changes"})]}),!l&&n("div",{class:"verdict",children:"Which column do you want to predict? Choose it above; it must have numbers."}),r.notes.length>0&&n("ul",{class:"notes","aria-label":"Notes on the table",children:r.notes.map(i=>n("li",{class:i.problem?"problem":"",children:[n("span",{children:i.text}),i.fix&&n("button",{onClick:()=>d(i.fix.set),children:i.fix.label})]}))}),n("table",{class:"columns",children:[n("thead",{children:n("tr",{children:[n("th",{children:"column"}),n("th",{children:"role"}),n("th",{children:"because"}),n("th",{class:"n",children:"missing"}),n("th",{class:"n",children:"distinct"}),n("th",{class:"n",children:"range"}),n("th",{children:"values"})]})}),n("tbody",{children:r.columns.map(i=>{const c=i.role==="carried"||i.role==="excluded";return n("tr",{class:i.role==="target"?"target":c?"ignored":"",children:[n("td",{children:i.name}),n("td",{children:n("select",{"aria-label":`Role of ${i.name}`,value:i.requested?i.role:"auto",onChange:p=>h(i.name,p.currentTarget.value),children:[n("option",{value:"auto",children:i.requested?"automatic":nn[i.role]}),Object.entries(nn).filter(([p])=>p!=="date"&&(i.range||p!=="target"&&p!=="weight")).filter(([p])=>i.requested||p!==i.role).map(([p,m])=>n("option",{value:p,children:m}))]})}),n("td",{class:"why",children:i.requested?`chosen (${i.reason})`:i.reason}),n("td",{class:"n","data-label":"missing",children:i.missing||"0"}),n("td",{class:"n","data-label":"distinct",children:i.distinct??"many"}),n("td",{class:"n","data-label":"range",children:i.range?`${x(i.range[0])} to ${x(i.range[1])}`:"–"}),n("td",{class:"picture-cell",children:n(On,{of:i.distribution,name:i.name})})]})})})]}),n(ne,{script:r.script})]})}function Te({value:e,low:t,high:r,set:o}){const[l,a]=E(String(e));return O(()=>a(String(e)),[e]),n("input",{type:"number",min:t,max:r,value:l,onInput:h=>{const u=h.currentTarget.value;a(u);const d=Number(u);u!==""&&Number.isInteger(d)&&d>=t&&d<=r&&o(d)},onBlur:()=>a(String(e))})}function pe(e){const{low:t,high:r,log:o}=e,l=h=>o?Math.log(h):h,a=h=>o?Number(Math.exp(h).toPrecision(3)):h;return n("label",{class:"field",children:[n("span",{children:[e.label,n("em",{"aria-hidden":"true",children:e.text})]}),n("input",{type:"range","aria-valuetext":e.text,min:l(t),max:l(r),step:e.step??(l(r)-l(t))/200,value:l(e.value),onInput:h=>e.set(a(Number(h.currentTarget.value)))}),e.help&&n("small",{children:e.help})]})}function Ae({param:e,value:t,set:r}){const o=e.name.replaceAll("_"," "),[l,a]=E(t??"");if(O(()=>a(t??""),[t]),e.search){const{low:h,high:u,unit:d}=e.search,s=Number.parseFloat(t??e.default??""),i=Number.isFinite(s)?s:Math.sqrt(h*u);return n(pe,{label:e.name==="alpha"?"strength α":o,help:e.help,low:Math.min(h,i),high:Math.max(u,i),log:!0,value:i,text:t??(e.default?x(i,3):"default"),set:c=>r(`${c}${d}`)})}return n("label",{class:"field",children:[n("span",{children:o}),n("input",{type:"text",value:l,placeholder:e.default??"",onInput:h=>a(h.currentTarget.value),onChange:h=>r(h.currentTarget.value.trim()||null)}),n("small",{children:[e.help,": ",e.range]})]})}function Gn({state:e,settings:t,change:r,table:o}){const l=e.methods.find(({name:f})=>f===t.method),a=o.columns.filter(f=>f.role!=="excluded"),h=t.target[0],[u,d]=E(["",h]),[s,i]=E(!0),[c,p]=E(null),[m,v]=E({since:0,names:u}),[S,_]=E(null),[g,y]=E(null),b=ae("augment",!1),k=I(null),$=I(!1),C=I(0),R=f=>a.some(D=>D.name===f)?f:"",N=async()=>{if($.current||!k.current)return;$.current=!0;const{settings:f,axes:D,since:B}=k.current;k.current=null;try{const H=await q("preview",{settings:f,x:D[0],y:D[1]});p(H),v({since:B,names:H.names}),_(null)}catch(H){_(H)}$.current=!1,N()};_n(()=>{k.current={settings:t,axes:[R(u[0]),R(u[1])],since:C.current},N();const f=setTimeout(()=>q("similarity",t).then(y,()=>y(null)),400);return()=>clearTimeout(f)},[t,u]);const T=f=>{C.current=performance.now(),r(f)},U=(f,D)=>{const{[f]:B,...H}=t.params;T({params:D===null?H:{...H,[f]:D}})},w=l.name==="ada",A=t.params.gamma!==void 0&&Number.isFinite(Number(t.params.gamma)),j=t.params.anchors??"kmeans",W=Number(t.params.clusters??0),F=["anchors","clusters","alpha","gamma"],te=l.params.filter(f=>f.search&&!F.includes(f.name)),Q=l.params.filter(f=>!te.includes(f)&&!(w&&F.includes(f.name))),je=(f,D)=>n("label",{children:[D,n("select",{value:R(u[f])||m.names[f],onChange:B=>{const H=B.currentTarget.value;d(f===0?[H,u[1]]:[u[0],H])},children:a.map(({name:B})=>n("option",{value:B,children:B}))})]}),He=async f=>{await b.start({...t,format:f})};return O(()=>{if(b.view?.status!=="done"||!b.view.result)return;const f=document.createElement("a");f.href=`file/${b.view.result.file}`,f.download=b.view.result.file,f.click()},[b.view?.status,b.view?.seconds]),n(z,{children:[n("h1",{children:"See augmentation"}),n("p",{class:"about",children:"Synthetic rows are made from yours. Move the sliders and look: do they still look like rows that you could have measured?"}),n(G,{error:S}),n("div",{class:"split",children:[n("section",{"aria-label":"Settings",children:[n("label",{class:"field",children:[n("span",{children:"method"}),n("select",{value:t.method,onChange:f=>T({method:f.currentTarget.value,params:{},rare:null}),children:e.methods.map(({name:f,title:D})=>n("option",{value:f,children:D}))}),n("small",{children:l.help})]}),w&&n(z,{children:[n("label",{class:"field",children:[n("span",{children:"groups"}),n("select",{value:j,onChange:f=>{const{anchors:D,clusters:B,...H}=t.params,Fe=f.currentTarget.value;T({params:Fe==="kmeans"?H:{...H,anchors:Fe}})},children:[n("option",{value:"kmeans",children:"similar rows (k-means)"}),o.anchors.map(f=>n("option",{value:`column:${f}`,children:`same ${f}`}))]})]}),j==="kmeans"&&n(pe,{label:"number of groups",low:1,high:40,step:1,value:W||1,text:W?String(W):"automatic",set:f=>U("clusters",f<2?null:String(f))}),n("label",{class:"field",children:[n("span",{children:"strength"}),n("select",{value:A?"fixed":"random",onChange:f=>{const{gamma:D,alpha:B,...H}=t.params;T({params:f.currentTarget.value==="fixed"?{...H,gamma:"0.5"}:H})},children:[n("option",{value:"random",children:"γ differs from row to row"}),n("option",{value:"fixed",children:"one γ for all rows"})]})]}),A?n(pe,{label:"γ",help:"above 1: toward the mean of the group; below 1: away from it",low:.1,high:10,log:!0,value:Number(t.params.gamma),text:t.params.gamma,set:f=>U("gamma",String(f))}):n(Ae,{param:l.params.find(({name:f})=>f==="alpha"),value:t.params.alpha,set:f=>U("alpha",f)})]}),te.map(f=>n(Ae,{param:f,value:t.params[f.name],set:D=>U(f.name,D)},f.name)),n(pe,{label:"synthetic rows per row",low:1,high:20,step:1,value:t.copies??1,text:String(t.copies??(l.rare||t.rare?"automatic":1)),set:f=>T({copies:f})}),n("label",{class:"field",children:[n("span",{children:"random seed"}),n(Te,{value:t.seed,low:0,high:2**53-1,set:f=>T({seed:f})})]}),n("details",{children:[n("summary",{children:"More settings"}),n("label",{class:"field",children:[n("span",{children:"rows to start from"}),n("select",{value:t.rare??"",onChange:f=>T({rare:f.currentTarget.value||null,copies:null}),children:[n("option",{value:"",children:l.rare?"rare targets, high and low":"all rows"}),n("option",{value:"high",children:"rows with a rare high target"}),n("option",{value:"low",children:"rows with a rare low target"}),n("option",{value:"both",children:"rows with a rare high or low target"}),n("option",{value:"density",children:"rows in sparse ranges of the target"})]})]}),n("label",{class:"row",children:[n("input",{type:"checkbox",checked:t.clip,onChange:f=>T({clip:f.currentTarget.checked})}),"clip to the observed range"]}),Q.map(f=>n(Ae,{param:f,value:t.params[f.name],set:D=>U(f.name,D)},f.name))]})]}),n("section",{class:"first","aria-label":"Original and synthetic rows",children:[n("div",{class:"axes",children:[je(0,"x"),je(1,"y"),c&&c.synthetic.group.length>0&&n("label",{children:[n("input",{type:"checkbox",checked:s,onChange:f=>i(f.currentTarget.checked)}),"color by group"]})]}),c&&n(jn,{data:c,names:m.names,byGroup:s,since:m.since}),c?.sampled&&n("p",{class:"about small",children:["Drawn and augmented here: a sample of ",Y(c.sampled,"row"),". The download has all of them."]}),n("div",{class:"row",children:[n("button",{class:"main",disabled:b.running||!!S,onClick:()=>He("csv"),children:"Download CSV"}),n("button",{disabled:b.running||!!S,onClick:()=>He("parquet"),children:"Download Parquet"}),n("span",{class:"about small",children:"with the source, group and strength of each row"})]}),n(se,{job:b,what:"Writing the augmented table"}),n(G,{error:b.error}),n("p",{class:"about small",children:"Augment training rows only: split before you augment, or the test error is too low."})]})]}),g&&n(Xn,{found:g}),n(ne,{script:c?.script})]})}function Xn({found:e}){const{columns:t,correlations:r,correlation_difference:o}=e.similarity,l=t.filter(a=>a.levels.length===0&&a.role!=="date").slice(0,30);return n("div",{class:"cards",children:[n("section",{children:[n("h2",{children:"Columns before and after"}),n("p",{class:"about small",children:e.words}),n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{children:"column"}),n("th",{class:"n",children:"mean"}),n("th",{class:"n",children:"synthetic"}),n("th",{class:"n",children:"sd"}),n("th",{class:"n",children:"synthetic"}),n("th",{class:"n",children:"outside"})]})}),n("tbody",{children:l.map(a=>n("tr",{children:[n("td",{children:a.name}),n("td",{class:"n",children:x(a.real.mean)}),n("td",{class:"n",children:x(a.synthetic.mean)}),n("td",{class:"n",children:x(a.real.sd,3)}),n("td",{class:"n",children:x(a.synthetic.sd,3)}),n("td",{class:"n",children:a.outside})]}))})]})})]}),n("section",{children:[n("h2",{children:"Correlations before and after"}),n("p",{class:"about small",children:o===null?"There is nothing to compare.":`They differ by ${x(o,2)} on average. The largest differences:`}),n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{children:"columns"}),n("th",{class:"n",children:"original"}),n("th",{class:"n",children:"synthetic"})]})}),n("tbody",{children:r.slice(0,8).map(a=>n("tr",{children:[n("td",{children:a.columns.join(", ")}),n("td",{class:"n",children:x(a.real,3)}),n("td",{class:"n",children:x(a.synthetic,3)})]}))})]})})]})]})}function Sn({settings:e,change:t,table:r}){const o=r.groups.filter(l=>!e.target.includes(l));return n("label",{class:"field",children:[n("span",{children:"new rows will be"}),n("select",{value:e.split,onChange:l=>t({split:l.currentTarget.value}),children:[n("option",{value:"",children:"like these rows (random rows are held out)"}),r.times.map(l=>n("option",{value:`time:${l}`,children:`later in ${l}`})),o.map(l=>n("option",{value:`group:${l}`,children:`of another ${l}`})),o.map(l=>n("option",{value:`domain:${l}`,children:`of another ${l}, one ${l} at a time`}))]})]})}function An(e,t){const[r,o]=E(null);return O(()=>{let l=!0;return q(`script/${e}`,t).then(a=>l&&o(a),()=>l&&o(null)),()=>{l=!1}},[t]),r}function Kn(e){const{state:t,settings:r,change:o}=e,l=ae("compare",t.jobs.includes("compare")),a=An("compare",r),h=r.methods??t.compared.filter(p=>p.default).map(({name:p})=>p),u=r.models??["mlp","ridge","forest","auto"],d=(p,m)=>p.includes(m)?p.filter(v=>v!==m):[...p,m],s=l.view?.status==="done"?l.view.result:null,i=t.compared.filter(p=>!p.rare),c=p=>t.models.map(({name:m})=>m).filter(m=>p.includes(m));return n(z,{children:[n("h1",{children:"Does it help?"}),n("p",{class:"about",children:["Every candidate is trained on the same rows and tested on the same held-out rows, ",r.folds??t.folds," folds ×"," ",r.repeats??t.repeats," repeats. A dot is one split: left of the line is better than no augmentation."]}),n("details",{open:!l.view,children:[n("summary",{children:"What to compare"}),n("div",{class:"cards",children:[n("section",{children:n("fieldset",{class:"checks",children:[n("legend",{children:"augmentations of a network"}),i.map(({name:p,help:m})=>n("label",{title:m,children:[n("input",{type:"checkbox",checked:h.includes(p),disabled:p==="none",onChange:()=>o({methods:d(h,p)})}),p]}))]})}),n("section",{children:[n("fieldset",{class:"checks",children:[n("legend",{children:"models"}),t.models.map(({name:p,help:m})=>n("label",{title:m,children:[n("input",{type:"checkbox",checked:u.includes(p),disabled:p==="mlp",onChange:()=>o({models:c(d(u,p))})}),p==="mlp"?"network":p]}))]}),n(Sn,{...e}),n("div",{class:"row",children:[n("label",{children:["folds",n(Te,{value:r.folds??t.folds,low:2,high:1e3,set:p=>o({folds:p})})]}),n("label",{children:["repeats",n(Te,{value:r.repeats??t.repeats,low:1,high:1e3,set:p=>o({repeats:p})})]})]})]})]})]}),n("div",{class:"row",children:[n("button",{class:"main",disabled:l.running,onClick:()=>l.start({...r,resume:!1}),children:l.view?"Compare again":"Compare"}),l.view?.status==="stopped"&&n("button",{class:"main",onClick:()=>l.start({...r,resume:!0}),children:"Resume"}),l.view?.status==="stopped"&&n("span",{class:"about",children:["Stopped after ",Y(l.view.events.length,"run"),", which are kept."]})]}),n(se,{job:l,what:"Comparing"}),n(G,{error:l.error}),s&&n("div",{class:`verdict${s.helps?" good":""}`,children:[n("p",{class:"answer",children:s.answer}),n("p",{children:s.verdict}),s.next&&n("p",{children:n("b",{children:["Next step: ",s.next,"."]})}),s.command&&n("pre",{children:s.command})]}),l.view?.info&&n(qn,{candidates:l.view.info.candidates,events:l.view.events,lines:s?.lines??null}),s&&n(z,{children:[n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{children:"candidate"}),n("th",{class:"n",children:"RMSE"}),n("th",{class:"n",children:"change"}),n("th",{class:"n",children:"95 % interval"}),n("th",{children:"verdict"})]})}),n("tbody",{children:s.lines.map(p=>n("tr",{children:[n("td",{children:p.name}),n("td",{class:"n",children:x(p.rmse)}),n("td",{class:"n",children:p.mean===null?"":Se(p.mean)}),n("td",{class:"n",children:p.low===null||p.high===null?"":`${Se(p.low)} … ${Se(p.high)}`}),n("td",{class:p.finding==="better"||p.finding==="worse"?p.finding:"",children:p.finding})]}))})]})}),n("div",{class:"row",style:{marginTop:"1rem"},children:[n("a",{class:"button",href:"file/report.html",download:"report.html",children:"Download the report"}),n("a",{class:"button",href:"file/results.json",download:"results.json",children:"Download all numbers"})]}),n("h2",{children:"Report"}),n("iframe",{title:"Report of the comparison",src:`${t.report}?${l.view?.seconds}`,sandbox:"allow-scripts"},l.view?.seconds)]}),n(ne,{script:a})]})}function Yn(e){const{state:t,settings:r}=e,o=ae("train",t.jobs.includes("train")),l=An("train",r),a=o.view?.status==="done"?o.view.result:o.view?null:t.model;return n(z,{children:[n("h1",{children:"Model"}),n("p",{class:"about",children:"Networks, linear models, trees and a Gaussian process are fitted and averaged with the weights that minimize the error of held-out rows."}),n(Sn,{...e}),n("div",{class:"row",children:[n("button",{class:"main",disabled:o.running,onClick:()=>o.start({...r,resume:!1}),children:a?"Train again":"Train a model"}),o.view?.status==="stopped"&&n("span",{class:"about",children:"Stopped."})]}),n(se,{job:o,what:"Training"}),n(G,{error:o.error}),a&&n(Qn,{model:a,settings:r,state:t}),n(ne,{script:l})]})}function Qn({model:e,settings:t,state:r}){const o=e.valid,l=e.targets[0],a=Math.max(1e-12,...e.importance.map(({rmse_increase:s})=>s)),h=e.portfolio.filter(({weight:s})=>s>0),u=ae("distill",r.jobs.includes("distill")),d=u.view?.status==="done"?u.view.result:null;return n(z,{children:[o&&n("div",{class:"verdict good",children:[n("p",{children:["Expected error for new rows, measured on ",Y(o.rows,"row")," that were held out in turn:"]}),n("div",{class:"numbers",children:[n("div",{children:[n("b",{children:x(o.rmse)}),"RMSE"]}),n("div",{children:[n("b",{children:x(o.mae)}),"mean absolute error"]}),n("div",{children:[n("b",{children:o.r2===null?"–":o.r2.toFixed(3)}),"R²"]})]})]}),(e.notes.length>0||e.drift)&&n("ul",{class:"notes",children:[...e.notes,...e.drift?[`Drift: ${e.drift}`]:[]].map(s=>n("li",{children:n("span",{children:s})}))}),n("div",{class:"cards",children:[e.held_out&&n("section",{children:[n("h2",{children:["Predicted and true ",l," of held-out rows"]}),n(Ln,{y:e.held_out.y,predicted:e.held_out.predicted,name:l})]}),n("section",{children:[n("h2",{children:"Which columns matter"}),n("p",{class:"about small",children:"Increase in RMSE if the values of the column are shuffled"}),n("div",{class:"meter",children:e.importance.slice(0,12).map(({column:s,rmse_increase:i})=>n(z,{children:[n("span",{title:s,children:s}),n("div",{children:n("i",{style:{width:`${Math.max(0,100*(i/a))}%`}})}),n("b",{children:x(i,3)})]}))}),n("h2",{style:{marginTop:"1.5rem"},children:"The ensemble"}),n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{children:"model"}),n("th",{class:"n",children:"weight"}),n("th",{class:"n",children:"RMSE alone"})]})}),n("tbody",{children:h.map(({name:s,weight:i,rmse:c})=>n("tr",{children:[n("td",{children:s}),n("td",{class:"n",children:[Math.round(100*i)," %"]}),n("td",{class:"n",children:x(c)})]}))})]})})]})]}),n(Zn,{model:e}),n(et,{settings:t,state:r}),n("h2",{children:"Take it with you"}),n("div",{class:"row",children:[n("a",{class:"button main",href:"file/model.windlass",download:"model.windlass",children:["Model (",he(e.bytes),")"]}),n("a",{class:"button",href:"file/model.onnx",download:"model.onnx",children:"ONNX"}),n("a",{class:"button",href:"file/model.h",download:"model.h",children:"C code"})]}),n("p",{class:"about",children:"Or distill it into one small network, for a sensor or a spreadsheet: about the same error, a fraction of the size."}),n("div",{class:"row",children:[n("button",{disabled:u.running,onClick:()=>u.start({}),children:"Distill"}),d&&n(z,{children:[n("a",{class:"button",href:"file/small.windlass",download:"small.windlass",children:["Small model (",he(d.student.bytes),")"]}),n("a",{class:"button",href:"file/small.h",download:"small.h",children:"Small C code"}),n("a",{class:"button",href:"file/small.onnx",download:"small.onnx",children:"Small ONNX"})]})]}),n(se,{job:u,what:"Distilling"}),n(G,{error:u.error}),d&&n(z,{children:[n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{}),n("th",{class:"n",children:"expected RMSE"}),n("th",{class:"n",children:"size"}),n("th",{class:"n",children:"time for a row"})]})}),n("tbody",{children:["teacher","student"].map(s=>n("tr",{children:[n("td",{children:s==="teacher"?"ensemble":"small network"}),n("td",{class:"n",children:x(d[s].valid?.rmse)}),n("td",{class:"n",children:he(d[s].bytes)}),n("td",{class:"n",children:[x(d[s].microseconds,3)," µs"]})]}))})]})}),d.difference&&n("p",{class:"about small",children:["The RMSE of the small network is ",d.difference,"."]}),n(ne,{script:d.script})]})]})}function Zn({model:e}){const[t,r]=E(()=>Object.fromEntries(e.inputs.map(({name:d})=>[d,e.first[d]??""]))),[o,l]=E(null),[a,h]=E(null);O(()=>{let d=!0;const s=setTimeout(()=>{q("predict",t).then(i=>{d&&(l(i),h(null))},i=>d&&h(i))},120);return()=>{d=!1,clearTimeout(s)}},[t]);const u=(d,s)=>r({...t,[d]:s});return n("section",{children:[n("h2",{children:"Predict one row"}),n("div",{class:"typed",children:e.inputs.map(d=>n("label",{children:[n("span",{title:d.name,children:d.name}),d.kind==="category"?n("select",{value:t[d.name]??"",onChange:s=>u(d.name,s.currentTarget.value),children:[n("option",{value:"",children:"missing"}),(d.levels??[]).map(s=>n("option",{value:s,children:s}))]}):n("input",{type:"text",inputMode:d.kind==="number"?"decimal":"text",placeholder:"missing",value:t[d.name]??"",onInput:s=>u(d.name,s.currentTarget.value)}),d.range&&n("small",{children:[x(d.range[0])," to ",x(d.range[1])]})]}))}),n(G,{error:a}),o&&!a&&n("div",{class:o.notes.length?"verdict bad":"verdict good",role:"status",children:[o.targets.map((d,s)=>n("p",{children:[d,": ",n("b",{class:"answer",children:x(o.prediction[s])}),o.low&&o.high&&o.level&&n(z,{children:[" ",Math.round(100*o.level)," % of new rows are between ",n("b",{children:x(o.low[s])})," and ",n("b",{children:x(o.high[s])})]})]})),o.notes.map(d=>n("p",{children:[n("b",{children:"Careful:"})," ",d.replace(/^1 row has a value/,"it has a value"),"."]}))]})]})}function et({settings:e,state:t}){const r=ae("predict",t.jobs.includes("predict")),[o,l]=E(null),a=async u=>{l(null);try{const{id:d}=await Un(u,t.max_upload);await r.start({table:d,nulls:e.nulls})}catch(d){l(d)}},h=r.view?.status==="done"?r.view.result:null;return n("section",{children:[n("h2",{children:"Predict a table"}),n(yn,{take:a,little:!0}),n(se,{job:r,what:"Predicting"}),n(G,{error:o??r.error}),h&&n(z,{children:[n("div",{class:"row",style:{marginTop:".75rem"},children:[n("a",{class:"button main",href:"file/predictions.csv",download:"predictions.csv",children:["Download ",Y(h.rows,"prediction")]}),h.metrics&&n("span",{children:["RMSE on the ",Y(h.metrics.rows,"row")," with a target: ",n("b",{children:x(h.metrics.rmse)})]})]}),h.notes.length>0&&n("ul",{class:"notes",children:h.notes.map(u=>n("li",{children:n("span",{children:u})}))}),n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{class:"n",children:"row"}),h.columns.map(u=>n("th",{class:"n",children:u.replaceAll("_"," ")}))]})}),n("tbody",{children:h.shown.slice(0,8).map((u,d)=>n("tr",{children:[n("td",{class:"n",children:d+1}),u.map(s=>n("td",{class:"n",children:x(s)}))]}))})]})}),n(ne,{script:h.script})]})]})}async function Un(e,t){if(e.size>t)throw new fe(`The file is larger than ${he(t)}.`,"start windlass studio FILE, or use the command, which streams files of any size");return q(`tables?name=${encodeURIComponent(e.name)}`,e)}function nt(){const[e,t]=E(null),[r,o]=E(ye),[l,a]=E(null),[h,u]=E(0),[d,s]=E(null),[i,c]=E(!1),p=I(null),m=w=>{a(null),u(0),o({...ye,table:w})};O(()=>{q("state").then(A=>{t(A);const j=A.tables.at(-1);j&&m(j.id)},s);const w=A=>A.preventDefault();return window.addEventListener("dragover",w),window.addEventListener("drop",w),()=>{window.removeEventListener("dragover",w),window.removeEventListener("drop",w)}},[]);const{table:v,target:S,roles:_,nulls:g,sheet:y,drop_missing_target:b,split:k}=r,$=JSON.stringify([v,S,_,g,y,b,k]);O(()=>{if(!v)return;let w=!0;return c(!0),q("inspect",{table:v,target:S,roles:_,nulls:g,sheet:y,drop_missing_target:b,split:k}).then(A=>{w&&(a(A),s(null),c(!1))},A=>{w&&(s(A),c(!1))}),()=>{w=!1}},[$]);const C=async w=>{if(e){s(null),c(!0);try{const{id:A,name:j}=await Un(w,e.max_upload);t({...e,tables:[...e.tables,{id:A,name:j}],jobs:[],model:null}),m(A)}catch(A){s(A),c(!1)}}},R=fn(w=>o(A=>({...A,...w})),[]),N=w=>{u(w),window.scrollTo(0,0),p.current?.focus()},T=r.target.length>0&&l!==null&&!l.notes.some(w=>w.problem),U=De(()=>({state:e,settings:r,change:R,table:l}),[e,r,l]);return n(z,{children:[n("a",{class:"skip",href:"#main",children:"Skip to the content"}),n("header",{children:n("div",{children:[n("span",{class:"brand",children:[n("img",{src:"icon.svg",alt:""}),"Windlass Studio"]}),r.table>0&&n("nav",{"aria-label":"Steps",children:Bn.map((w,A)=>n("button",{"aria-current":h===A?"step":void 0,disabled:A>0&&!T,onClick:()=>N(A),children:[n("b",{children:A+1}),w]}))}),r.table>0&&n("span",{class:"opened",children:[n("span",{title:l?.name,children:l?.name}),n("button",{onClick:()=>{o(ye),a(null),s(null)},children:"Open another"})]})]})}),n("main",{id:"main",tabIndex:-1,ref:p,class:i&&l?"waiting":"","aria-busy":i,children:[n(G,{error:d}),r.table===0&&e&&n(tt,{take:C}),r.table>0&&!l&&!d&&n("p",{role:"status",children:"Reading the table…"}),e&&l&&h===0&&n(Vn,{...U,go:N}),e&&l&&T&&h===1&&n(Gn,{...U}),e&&l&&T&&h===2&&n(Kn,{...U}),e&&l&&T&&h===3&&n(Yn,{...U})]})]})}function tt({take:e}){return n("div",{class:"start",children:[n("h1",{children:"Regression on small tables"}),n("p",{class:"about",children:"Open a table with a few dozen to a few thousand rows. Nothing leaves this computer."}),n(yn,{take:e,children:n("button",{onClick:()=>e(new File([zn],"auto_mpg.csv",{type:"text/csv"})),children:"Try the example: 398 cars"})}),n("ol",{children:[n("li",{children:[n("b",{children:"1 Table"}),n("span",{class:"about",children:"columns, roles, and what to fix"})]}),n("li",{children:[n("b",{children:"2 Augment"}),n("span",{class:"about",children:"see synthetic rows move with a slider"})]}),n("li",{children:[n("b",{children:"3 Does it help?"}),n("span",{class:"about",children:"a test on held-out rows"})]}),n("li",{children:[n("b",{children:"4 Model"}),n("span",{class:"about",children:"its error, its intervals, and predictions"})]})]})]})}Jn(n(nt,{}),document.body);
