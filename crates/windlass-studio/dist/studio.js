var ge,M,tn,K,Le,rn,on,ln,Je,Ue,ke,re={},an=[],Un=/acit|ex(?:s|g|n|p|$)|rph|grid|ows|mnc|ntw|ine[ch]|zoo|^ord|itera/i,ve=Array.isArray;function V(e,t){for(var r in t)e[r]=t[r];return e}function Ce(e){e&&e.parentNode&&e.parentNode.removeChild(e)}function kn(e,t,r){var o,l,a,u={};for(a in t)a=="key"?o=t[a]:a=="ref"?l=t[a]:u[a]=t[a];if(arguments.length>2&&(u.children=arguments.length>3?ge.call(arguments,2):r),typeof e=="function"&&e.defaultProps!=null)for(a in e.defaultProps)u[a]===void 0&&(u[a]=e.defaultProps[a]);return ce(e,u,o,l,null)}function ce(e,t,r,o,l){var a={type:e,props:t,key:r,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:void 0,__v:l??++tn,__i:-1,__u:0};return l==null&&M.vnode!=null&&M.vnode(a),a}function z(e){return e.children}function de(e,t){this.props=e,this.context=t}function Z(e,t){if(t==null)return e.__?Z(e.__,e.__i+1):null;for(var r;t<e.__k.length;t++)if((r=e.__k[t])!=null&&r.__e!=null)return r.__e;return typeof e.type=="function"?Z(e):null}function sn(e){var t,r;if((e=e.__)!=null&&e.__c!=null){for(e.__e=e.__c.base=null,t=0;t<e.__k.length;t++)if((r=e.__k[t])!=null&&r.__e!=null){e.__e=e.__c.base=r.__e;break}return sn(e)}}function Ie(e){(!e.__d&&(e.__d=!0)&&K.push(e)&&!me.__r++||Le!=M.debounceRendering)&&((Le=M.debounceRendering)||rn)(me)}function me(){for(var e,t,r,o,l,a,u,d=1;K.length;)K.length>d&&K.sort(on),e=K.shift(),d=K.length,e.__d&&(r=void 0,o=void 0,l=(o=(t=e).__v).__e,a=[],u=[],t.__P&&((r=V({},o)).__v=o.__v+1,M.vnode&&M.vnode(r),Pe(t.__P,r,o,t.__n,t.__P.namespaceURI,32&o.__u?[l]:null,a,l??Z(o),!!(32&o.__u),u),r.__v=o.__v,r.__.__k[r.__i]=r,un(a,r,u),o.__e=o.__=null,r.__e!=l&&sn(r)));me.__r=0}function cn(e,t,r,o,l,a,u,d,h,s,i){var c,p,m,v,k,_,g,b=o&&o.__k||an,w=t.length;for(h=xn(r,t,b,h,w),c=0;c<w;c++)(m=r.__k[c])!=null&&(p=m.__i==-1?re:b[m.__i]||re,m.__i=c,_=Pe(e,m,p,l,a,u,d,h,s,i),v=m.__e,m.ref&&p.ref!=m.ref&&(p.ref&&Ne(p.ref,null,m),i.push(m.ref,m.__c||v,m)),k==null&&v!=null&&(k=v),(g=!!(4&m.__u))||p.__k===m.__k?h=dn(m,h,e,g):typeof m.type=="function"&&_!==void 0?h=_:v&&(h=v.nextSibling),m.__u&=-7);return r.__e=k,h}function xn(e,t,r,o,l){var a,u,d,h,s,i=r.length,c=i,p=0;for(e.__k=new Array(l),a=0;a<l;a++)(u=t[a])!=null&&typeof u!="boolean"&&typeof u!="function"?(h=a+p,(u=e.__k[a]=typeof u=="string"||typeof u=="number"||typeof u=="bigint"||u.constructor==String?ce(null,u,null,null,null):ve(u)?ce(z,{children:u},null,null,null):u.constructor==null&&u.__b>0?ce(u.type,u.props,u.key,u.ref?u.ref:null,u.__v):u).__=e,u.__b=e.__b+1,d=null,(s=u.__i=En(u,r,h,c))!=-1&&(c--,(d=r[s])&&(d.__u|=2)),d==null||d.__v==null?(s==-1&&(l>i?p--:l<i&&p++),typeof u.type!="function"&&(u.__u|=4)):s!=h&&(s==h-1?p--:s==h+1?p++:(s>h?p--:p++,u.__u|=4))):e.__k[a]=null;if(c)for(a=0;a<i;a++)(d=r[a])!=null&&(2&d.__u)==0&&(d.__e==o&&(o=Z(d)),pn(d,d));return o}function dn(e,t,r,o){var l,a;if(typeof e.type=="function"){for(l=e.__k,a=0;l&&a<l.length;a++)l[a]&&(l[a].__=e,t=dn(l[a],t,r,o));return t}e.__e!=t&&(o&&(t&&e.type&&!t.parentNode&&(t=Z(e)),r.insertBefore(e.__e,t||null)),t=e.__e);do t=t&&t.nextSibling;while(t!=null&&t.nodeType==8);return t}function En(e,t,r,o){var l,a,u,d=e.key,h=e.type,s=t[r],i=s!=null&&(2&s.__u)==0;if(s===null&&e.key==null||i&&d==s.key&&h==s.type)return r;if(o>(i?1:0)){for(l=r-1,a=r+1;l>=0||a<t.length;)if((s=t[u=l>=0?l--:a++])!=null&&(2&s.__u)==0&&d==s.key&&h==s.type)return u}return-1}function Oe(e,t,r){t[0]=="-"?e.setProperty(t,r??""):e[t]=r==null?"":typeof r!="number"||Un.test(t)?r:r+"px"}function ie(e,t,r,o,l){var a,u;e:if(t=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)r&&t in r||Oe(e.style,t,"");if(r)for(t in r)o&&r[t]==o[t]||Oe(e.style,t,r[t])}else if(t[0]=="o"&&t[1]=="n")a=t!=(t=t.replace(ln,"$1")),u=t.toLowerCase(),t=u in e||t=="onFocusOut"||t=="onFocusIn"?u.slice(2):t.slice(2),e.l||(e.l={}),e.l[t+a]=r,r?o?r.u=o.u:(r.u=Je,e.addEventListener(t,a?ke:Ue,a)):e.removeEventListener(t,a?ke:Ue,a);else{if(l=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{e[t]=r??"";break e}catch{}typeof r=="function"||(r==null||r===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&r==1?"":r))}}function We(e){return function(t){if(this.l){var r=this.l[t.type+e];if(t.t==null)t.t=Je++;else if(t.t<r.u)return;return r(M.event?M.event(t):t)}}}function Pe(e,t,r,o,l,a,u,d,h,s){var i,c,p,m,v,k,_,g,b,w,U,$,T,R,N,J,A,y=t.type;if(t.constructor!=null)return null;128&r.__u&&(h=!!(32&r.__u),a=[d=t.__e=r.__e]),(i=M.__b)&&i(t);e:if(typeof y=="function")try{if(g=t.props,b="prototype"in y&&y.prototype.render,w=(i=y.contextType)&&o[i.__c],U=i?w?w.props.value:i.__:o,r.__c?_=(c=t.__c=r.__c).__=c.__E:(b?t.__c=c=new y(g,U):(t.__c=c=new de(g,U),c.constructor=y,c.render=Mn),w&&w.sub(c),c.props=g,c.state||(c.state={}),c.context=U,c.__n=o,p=c.__d=!0,c.__h=[],c._sb=[]),b&&c.__s==null&&(c.__s=c.state),b&&y.getDerivedStateFromProps!=null&&(c.__s==c.state&&(c.__s=V({},c.__s)),V(c.__s,y.getDerivedStateFromProps(g,c.__s))),m=c.props,v=c.state,c.__v=t,p)b&&y.getDerivedStateFromProps==null&&c.componentWillMount!=null&&c.componentWillMount(),b&&c.componentDidMount!=null&&c.__h.push(c.componentDidMount);else{if(b&&y.getDerivedStateFromProps==null&&g!==m&&c.componentWillReceiveProps!=null&&c.componentWillReceiveProps(g,U),!c.__e&&c.shouldComponentUpdate!=null&&c.shouldComponentUpdate(g,c.__s,U)===!1||t.__v==r.__v){for(t.__v!=r.__v&&(c.props=g,c.state=c.__s,c.__d=!1),t.__e=r.__e,t.__k=r.__k,t.__k.some(function(S){S&&(S.__=t)}),$=0;$<c._sb.length;$++)c.__h.push(c._sb[$]);c._sb=[],c.__h.length&&u.push(c);break e}c.componentWillUpdate!=null&&c.componentWillUpdate(g,c.__s,U),b&&c.componentDidUpdate!=null&&c.__h.push(function(){c.componentDidUpdate(m,v,k)})}if(c.context=U,c.props=g,c.__P=e,c.__e=!1,T=M.__r,R=0,b){for(c.state=c.__s,c.__d=!1,T&&T(t),i=c.render(c.props,c.state,c.context),N=0;N<c._sb.length;N++)c.__h.push(c._sb[N]);c._sb=[]}else do c.__d=!1,T&&T(t),i=c.render(c.props,c.state,c.context),c.state=c.__s;while(c.__d&&++R<25);c.state=c.__s,c.getChildContext!=null&&(o=V(V({},o),c.getChildContext())),b&&!p&&c.getSnapshotBeforeUpdate!=null&&(k=c.getSnapshotBeforeUpdate(m,v)),J=i,i!=null&&i.type===z&&i.key==null&&(J=hn(i.props.children)),d=cn(e,ve(J)?J:[J],t,r,o,l,a,u,d,h,s),c.base=t.__e,t.__u&=-161,c.__h.length&&u.push(c),_&&(c.__E=c.__=null)}catch(S){if(t.__v=null,h||a!=null)if(S.then){for(t.__u|=h?160:128;d&&d.nodeType==8&&d.nextSibling;)d=d.nextSibling;a[a.indexOf(d)]=null,t.__e=d}else{for(A=a.length;A--;)Ce(a[A]);xe(t)}else t.__e=r.__e,t.__k=r.__k,S.then||xe(t);M.__e(S,t,r)}else a==null&&t.__v==r.__v?(t.__k=r.__k,t.__e=r.__e):d=t.__e=$n(r.__e,t,r,o,l,a,u,h,s);return(i=M.diffed)&&i(t),128&t.__u?void 0:d}function xe(e){e&&e.__c&&(e.__c.__e=!0),e&&e.__k&&e.__k.forEach(xe)}function un(e,t,r){for(var o=0;o<r.length;o++)Ne(r[o],r[++o],r[++o]);M.__c&&M.__c(t,e),e.some(function(l){try{e=l.__h,l.__h=[],e.some(function(a){a.call(l)})}catch(a){M.__e(a,l.__v)}})}function hn(e){return typeof e!="object"||e==null||e.__b&&e.__b>0?e:ve(e)?e.map(hn):V({},e)}function $n(e,t,r,o,l,a,u,d,h){var s,i,c,p,m,v,k,_=r.props,g=t.props,b=t.type;if(b=="svg"?l="http://www.w3.org/2000/svg":b=="math"?l="http://www.w3.org/1998/Math/MathML":l||(l="http://www.w3.org/1999/xhtml"),a!=null){for(s=0;s<a.length;s++)if((m=a[s])&&"setAttribute"in m==!!b&&(b?m.localName==b:m.nodeType==3)){e=m,a[s]=null;break}}if(e==null){if(b==null)return document.createTextNode(g);e=document.createElementNS(l,b,g.is&&g),d&&(M.__m&&M.__m(t,a),d=!1),a=null}if(b==null)_===g||d&&e.data==g||(e.data=g);else{if(a=a&&ge.call(e.childNodes),_=r.props||re,!d&&a!=null)for(_={},s=0;s<e.attributes.length;s++)_[(m=e.attributes[s]).name]=m.value;for(s in _)if(m=_[s],s!="children"){if(s=="dangerouslySetInnerHTML")c=m;else if(!(s in g)){if(s=="value"&&"defaultValue"in g||s=="checked"&&"defaultChecked"in g)continue;ie(e,s,null,m,l)}}for(s in g)m=g[s],s=="children"?p=m:s=="dangerouslySetInnerHTML"?i=m:s=="value"?v=m:s=="checked"?k=m:d&&typeof m!="function"||_[s]===m||ie(e,s,m,_[s],l);if(i)d||c&&(i.__html==c.__html||i.__html==e.innerHTML)||(e.innerHTML=i.__html),t.__k=[];else if(c&&(e.innerHTML=""),cn(t.type=="template"?e.content:e,ve(p)?p:[p],t,r,o,b=="foreignObject"?"http://www.w3.org/1999/xhtml":l,a,u,a?a[0]:r.__k&&Z(r,0),d,h),a!=null)for(s=a.length;s--;)Ce(a[s]);d||(s="value",b=="progress"&&v==null?e.removeAttribute("value"):v!=null&&(v!==e[s]||b=="progress"&&!v||b=="option"&&v!=_[s])&&ie(e,s,v,_[s],l),s="checked",k!=null&&k!=e[s]&&ie(e,s,k,_[s],l))}return e}function Ne(e,t,r){try{if(typeof e=="function"){var o=typeof e.__u=="function";o&&e.__u(),o&&t==null||(e.__u=e(t))}else e.current=t}catch(l){M.__e(l,r)}}function pn(e,t,r){var o,l;if(M.unmount&&M.unmount(e),(o=e.ref)&&(o.current&&o.current!=e.__e||Ne(o,null,t)),(o=e.__c)!=null){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(a){M.__e(a,t)}o.base=o.__P=null}if(o=e.__k)for(l=0;l<o.length;l++)o[l]&&pn(o[l],t,r||typeof e.type!="function");r||Ce(e.__e),e.__c=e.__=e.__e=void 0}function Mn(e,t,r){return this.constructor(e,r)}function Tn(e,t,r){var o,l,a,u;t==document&&(t=document.documentElement),M.__&&M.__(e,t),l=(o=!1)?null:t.__k,a=[],u=[],Pe(t,e=t.__k=kn(z,null,[e]),l||re,re,t.namespaceURI,l?null:t.firstChild?ge.call(t.childNodes):null,a,l?l.__e:t.firstChild,o,u),un(a,e,u)}ge=an.slice,M={__e:function(e,t,r,o){for(var l,a,u;t=t.__;)if((l=t.__c)&&!l.__)try{if((a=l.constructor)&&a.getDerivedStateFromError!=null&&(l.setState(a.getDerivedStateFromError(e)),u=l.__d),l.componentDidCatch!=null&&(l.componentDidCatch(e,o||{}),u=l.__d),u)return l.__E=l}catch(d){e=d}throw e}},tn=0,de.prototype.setState=function(e,t){var r;r=this.__s!=null&&this.__s!=this.state?this.__s:this.__s=V({},this.state),typeof e=="function"&&(e=e(V({},r),this.props)),e&&V(r,e),e!=null&&this.__v&&(t&&this._sb.push(t),Ie(this))},de.prototype.forceUpdate=function(e){this.__v&&(this.__e=!0,e&&this.__h.push(e),Ie(this))},de.prototype.render=z,K=[],rn=typeof Promise=="function"?Promise.prototype.then.bind(Promise.resolve()):setTimeout,on=function(e,t){return e.__v.__b-t.__v.__b},me.__r=0,ln=/(PointerCapture)$|Capture$/i,Je=0,Ue=We(!1),ke=We(!0);var Jn=0;function n(e,t,r,o,l,a){t||(t={});var u,d,h=t;if("ref"in h)for(d in h={},t)d=="ref"?u=t[d]:h[d]=t[d];var s={type:e,props:h,key:r,ref:u,__k:null,__:null,__b:0,__e:null,__c:null,constructor:void 0,__v:--Jn,__i:-1,__u:0,__source:l,__self:a};if(typeof e=="function"&&(u=e.defaultProps))for(d in u)h[d]===void 0&&(h[d]=u[d]);return M.vnode&&M.vnode(s),s}var ee,C,we,qe,oe=0,mn=[],P=M,Be=P.__b,Ve=P.__r,Ge=P.diffed,Xe=P.__c,Ke=P.unmount,Ye=P.__;function be(e,t){P.__h&&P.__h(C,e,oe||t),oe=0;var r=C.__H||(C.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function E(e){return oe=1,Cn(gn,e)}function Cn(e,t,r){var o=be(ee++,2);if(o.t=e,!o.__c&&(o.__=[gn(void 0,t),function(d){var h=o.__N?o.__N[0]:o.__[0],s=o.t(h,d);h!==s&&(o.__N=[s,o.__[1]],o.__c.setState({}))}],o.__c=C,!C.__f)){var l=function(d,h,s){if(!o.__c.__H)return!0;var i=o.__c.__H.__.filter(function(p){return!!p.__c});if(i.every(function(p){return!p.__N}))return!a||a.call(this,d,h,s);var c=o.__c.props!==d;return i.forEach(function(p){if(p.__N){var m=p.__[0];p.__=p.__N,p.__N=void 0,m!==p.__[0]&&(c=!0)}}),a&&a.call(this,d,h,s)||c};C.__f=!0;var a=C.shouldComponentUpdate,u=C.componentWillUpdate;C.componentWillUpdate=function(d,h,s){if(this.__e){var i=a;a=void 0,l(d,h,s),a=i}u&&u.call(this,d,h,s)},C.shouldComponentUpdate=l}return o.__N||o.__}function I(e,t){var r=be(ee++,3);!P.__s&&ze(r.__H,t)&&(r.__=e,r.u=t,C.__H.__h.push(r))}function _n(e,t){var r=be(ee++,4);!P.__s&&ze(r.__H,t)&&(r.__=e,r.u=t,C.__h.push(r))}function L(e){return oe=5,De(function(){return{current:e}},[])}function De(e,t){var r=be(ee++,7);return ze(r.__H,t)&&(r.__=e(),r.__H=t,r.__h=e),r.__}function fn(e,t){return oe=8,De(function(){return e},t)}function Pn(){for(var e;e=mn.shift();)if(e.__P&&e.__H)try{e.__H.__h.forEach(ue),e.__H.__h.forEach(Ee),e.__H.__h=[]}catch(t){e.__H.__h=[],P.__e(t,e.__v)}}P.__b=function(e){C=null,Be&&Be(e)},P.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),Ye&&Ye(e,t)},P.__r=function(e){Ve&&Ve(e),ee=0;var t=(C=e.__c).__H;t&&(we===C?(t.__h=[],C.__h=[],t.__.forEach(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})):(t.__h.forEach(ue),t.__h.forEach(Ee),t.__h=[],ee=0)),we=C},P.diffed=function(e){Ge&&Ge(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&(mn.push(t)!==1&&qe===P.requestAnimationFrame||((qe=P.requestAnimationFrame)||Nn)(Pn)),t.__H.__.forEach(function(r){r.u&&(r.__H=r.u),r.u=void 0})),we=C=null},P.__c=function(e,t){t.some(function(r){try{r.__h.forEach(ue),r.__h=r.__h.filter(function(o){return!o.__||Ee(o)})}catch(o){t.some(function(l){l.__h&&(l.__h=[])}),t=[],P.__e(o,r.__v)}}),Xe&&Xe(e,t)},P.unmount=function(e){Ke&&Ke(e);var t,r=e.__c;r&&r.__H&&(r.__H.__.forEach(function(o){try{ue(o)}catch(l){t=l}}),r.__H=void 0,t&&P.__e(t,r.__v))};var Qe=typeof requestAnimationFrame=="function";function Nn(e){var t,r=function(){clearTimeout(o),Qe&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(r,35);Qe&&(t=requestAnimationFrame(r))}function ue(e){var t=C,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),C=t}function Ee(e){var t=C;e.__c=e.__(),C=t}function ze(e,t){return!e||e.length!==t.length||t.some(function(r,o){return r!==e[o]})}function gn(e,t){return typeof t=="function"?t(e):t}const Dn=`mpg,cylinders,displacement,horsepower,weight,acceleration,model_year,origin,name
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
`;function x(e,t=4){if(e==null||!Number.isFinite(e))return"–";const r=Math.abs(e);return r!==0&&(r>=1e7||r<1e-4)?e.toExponential(2).replace("-","−"):String(Number(e.toPrecision(t))).replace("-","−")}function vn(e,t,r){const o=(t-e)/Math.max(1,r);if(!(o>0)||!Number.isFinite(o))return[e];const l=10**Math.floor(Math.log10(o)),a=l*([1,2,5,10].find(h=>h*l>=o)??10),u=Math.ceil(e/a-1e-9),d=Math.floor(t/a+1e-9);return Array.from({length:Math.min(50,d-u+1)},(h,s)=>(u+s)*a)}function $e(e,t,r){if(t.length>0)return[-.6,t.length-.4];let[o,l]=[1/0,-1/0];for(const h of e)for(const s of h)s!==null&&(s<o&&(o=s),s>l&&(l=s));if(o>l)return r??[0,1];const a=(l-o)*.04||Math.abs(l)*.1||1,[u,d]=[o-a,l+a];return r?[Math.min(u,r[0]),Math.max(d,r[1])]:[u,d]}const zn=e=>((e*2654435761>>>0)%1e3/1e3-.5)*.5,W={left:58,right:52,top:52,bottom:44};function Rn({data:e,names:t,byGroup:r,since:o}){const l=L(null),a=L(null),u=L(null),[d,h]=E(null),[,s]=E(0),i=e.synthetic.group.length>0&&r;I(()=>{const _=()=>s(w=>w+1),g=matchMedia("(prefers-color-scheme: dark)"),b=new ResizeObserver(_);return l.current?.parentElement&&b.observe(l.current.parentElement),g.addEventListener("change",_),()=>{b.disconnect(),g.removeEventListener("change",_)}},[]),_n(()=>{const _=l.current;if(!_)return;const g=t.join("\0"),b=u.current?.key===g?u.current:null,w=T=>[e.original.values[T],e.synthetic.values[T]],U=$e(w(0),e.levels[0],b?.xs),$=$e(w(1),e.levels[1],b?.ys);if(u.current={key:g,xs:U,ys:$},a.current=bn(_,e,t,i,{xs:U,ys:$},d),o!==void 0&&o>0){const T=Math.round((performance.now()-o)*10)/10;_.dataset.latency=String(T)}});const c=d===null?null:Fn(e,t,d),p=d===null||!a.current?null:le(e,a.current,d),m=e.original.source.length+e.synthetic.source.length,v=_=>{const g=l.current;if(!g||!a.current)return;const b=g.getBoundingClientRect();h(Hn(e,a.current,_.clientX-b.left,_.clientY-b.top))},k=_=>{const g={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1}[_.key];if(_.key==="Escape"&&h(null),g===void 0||m===0)return;_.preventDefault();const b=e.original.source.length;h(((d===null?b-1:d)+g+m)%m)};return n("div",{class:"picture",children:[n("canvas",{ref:l,tabIndex:0,role:"img","aria-label":`${t[1]} against ${t[0]}: ${e.original.source.length} original rows and ${e.synthetic.source.length} synthetic rows. Arrow keys go through the rows.`,onPointerMove:v,onPointerDown:v,onPointerLeave:()=>h(null),onBlur:()=>h(null),onKeyDown:k}),c&&p&&n("div",{class:"tip",style:jn(p,l.current),children:c}),n("div",{class:"hidden","aria-live":"polite",children:c}),n("p",{class:i?"key":"key hues",children:[n("span",{children:[n("i",{class:"original"}),"original"]}),n("span",{children:[n("i",{class:"synthetic"}),"synthetic"]}),i&&n("span",{children:"colors are groups"})]})]})}function jn([e,t],r){const o=r?.clientWidth??600,l=e>o/2;return{top:`${t+12}px`,...l?{right:`${o-e+8}px`}:{left:`${e+8}px`}}}function Re(e,t){const r=e.original.source.length;return t<r?{points:e.original,row:t,made:!1}:{points:e.synthetic,row:t-r,made:!0}}function le(e,t,r){const{points:o,row:l}=Re(e,r),[a,u]=[o.values[0][l],o.values[1][l]];if(a==null||u==null)return null;const d=(h,s)=>s+(e.levels[h].length?zn(l+h):0);return[t.x(d(0,a)),t.y(d(1,u))]}function Hn(e,t,r,o){const l=e.original.source.length+e.synthetic.source.length;let[a,u]=[14**2,null];for(let d=0;d<l;d++){const h=le(e,t,d);if(!h)continue;const s=(h[0]-r)**2+(h[1]-o)**2;s<=a&&([a,u]=[s,d])}return u}function Me(e,t){return t==null?-1:e.original.source.indexOf(t)}function Fn(e,t,r){const{points:o,row:l,made:a}=Re(e,r),u=(p,m,v)=>{const k=p.values[v][m],_=k==null?void 0:e.levels[v][k];return`${t[v]} ${_??x(k)}`},d=(p,m)=>`${u(p,m,0)}, ${u(p,m,1)}`;if(!a)return`Row ${o.source[l]} of the table
${d(o,l)}`;const h=["Synthetic row",d(o,l)],s=Me(e,o.source[l]);s>=0&&h.push(`from row ${o.source[l]}: ${d(e.original,s)}`);const i=Me(e,o.partner[l]);i>=0&&h.push(`mixed with row ${o.partner[l]}: ${d(e.original,i)}`);const c=[];return o.group[l]!=null&&c.push(`group ${o.group[l]}`),o.strength[l]!=null&&c.push(`${o.group.length?"γ":"λ"} = ${x(o.strength[l],3)}`),c.length&&h.push(c.join(", ")),h.join(`
`)}const X=(e,t)=>e.getPropertyValue(`--${t}`).trim();function bn(e,t,r,o,{xs:l,ys:a},u){const d=e.parentElement?.clientWidth??600,h=Math.round(Math.min(560,Math.max(300,d*.72))),s=window.devicePixelRatio||1;(e.width!==Math.round(d*s)||e.height!==Math.round(h*s))&&(e.width=Math.round(d*s),e.height=Math.round(h*s),e.style.height=`${h}px`);const i=e.getContext("2d"),c=getComputedStyle(e);i.setTransform(s,0,0,s,0,0),i.clearRect(0,0,d,h);const[p,m]=[d-W.right,h-W.bottom],v=A=>W.left+(A-l[0])/(l[1]-l[0])*(p-W.left),k=A=>m-(A-a[0])/(a[1]-a[0])*(m-W.top),_={x:v,y:k,xs:l,ys:a},g=X(c,"ink"),b=X(c,"faint");i.font="12px system-ui, sans-serif",i.strokeStyle=X(c,"grid"),i.fillStyle=b,i.lineWidth=1,i.textAlign="center",i.textBaseline="top";const w=(A,y)=>{const S=t.levels[A][y];return S===void 0?x(y):S.length>9?`${S.slice(0,8)}…`:S},U=(A,[y,S],j)=>t.levels[A].length?t.levels[A].map((O,F)=>F):vn(y,S,j);for(const A of U(0,l,d/90))_e(i,v(A),W.top,v(A),m),i.fillText(w(0,A),v(A),m+6);i.textAlign="right",i.textBaseline="middle";for(const A of U(1,a,h/60))_e(i,W.left,k(A),p,k(A)),i.fillText(w(1,A),W.left-6,k(A));i.fillStyle=g,i.font="600 13px system-ui, sans-serif",i.textAlign="center",i.textBaseline="alphabetic",i.fillText(Ze(r[0]),(W.left+p)/2,h-6),i.save(),i.translate(13,(W.top+m)/2),i.rotate(-Math.PI/2),i.fillText(Ze(r[1]),0,0),i.restore();const $=[X(c,"c0"),X(c,"c1")],T=Array.from({length:12},(A,y)=>X(c,`c${y}`)),R=(A,y,S)=>{const j=A.group[y];return o&&j!=null?T[j%12]:$[S?1:0]},N=t.original.source.length+t.synthetic.source.length,J=N>8e3?1.5:N>2500?2.2:3;for(const[A,y]of[[t.synthetic,!0],[t.original,!1]]){i.globalAlpha=y?.75:.85,i.lineWidth=1.3;const S=y?t.original.source.length:0,j=new Map;for(let O=0;O<A.source.length;O++){const F=le(t,_,S+O);if(!F)continue;const te=R(A,O,y);let Q=j.get(te);Q||j.set(te,Q=new Path2D),Q.moveTo(F[0]+J,F[1]),Q.arc(F[0],F[1],J,0,2*Math.PI)}for(const[O,F]of j)i.strokeStyle=i.fillStyle=O,y?i.stroke(F):i.fill(F)}return i.globalAlpha=1,en(i,t,0,_,$,W.top-6,p,m),en(i,t,1,_,$,p+6,p,m),u!==null&&Ln(i,t,_,u,g),_}function _e(e,t,r,o,l){e.beginPath(),e.moveTo(t,r),e.lineTo(o,l),e.stroke()}const Ze=e=>e.length>40?`${e.slice(0,39)}…`:e;function en(e,t,r,o,[l,a],u,d,h){const s=t.levels[r].length,i=s||28,[c,p]=r===0?o.xs:o.ys,m=[t.original,t.synthetic].map(g=>{const b=new Array(i).fill(0);let w=0;for(const U of g.values[r]){if(U===null)continue;const $=Math.min(i-1,Math.max(0,Math.floor((U-c)/(p-c)*i)));b[s?U:$]+=1,w+=1}return b.map(U=>U/Math.max(1,w))}),v=Math.max(1e-9,...m.flat()),k=40,_=g=>s?g-.5:c+(p-c)*g/i;m.forEach((g,b)=>{g.every(w=>w===0)||(e.beginPath(),g.forEach((w,U)=>{const[$,T]=[_(U),_(U+1)],R=w/v*k;if(r===0){const[N,J]=[o.x($),Math.min(d,o.x(T))];e.rect(N,u-R,J-N,R)}else{const[N,J]=[o.y(T),Math.min(h,o.y($))];e.rect(u,N,R,J-N)}}),e.globalAlpha=b===0?.3:.95,e.lineWidth=1.2,b===0?(e.fillStyle=l,e.fill()):(e.strokeStyle=a,e.stroke()))}),e.globalAlpha=1}function Ln(e,t,r,o,l){const{points:a,row:u,made:d}=Re(t,o),h=le(t,r,o);if(h){if(e.strokeStyle=l,e.lineWidth=1.5,d)for(const s of[a.source[u],a.partner[u]]){const i=Me(t,s),c=i<0?null:le(t,r,i);c&&(_e(e,c[0],c[1],h[0],h[1]),e.strokeRect(c[0]-4,c[1]-4,8,8))}e.beginPath(),e.arc(h[0],h[1],6,0,2*Math.PI),e.stroke()}}function In({y:e,predicted:t,name:r}){const o=[],l={values:[e,t],source:e.map((s,i)=>i),partner:o,group:o,strength:o},a=[...e,...t],u=[Math.min(...a),Math.max(...a)],d=L(null),[,h]=E(0);return I(()=>{const s=()=>h(p=>p+1),i=matchMedia("(prefers-color-scheme: dark)"),c=new ResizeObserver(s);return d.current?.parentElement&&c.observe(d.current.parentElement),i.addEventListener("change",s),()=>{c.disconnect(),i.removeEventListener("change",s)}},[]),I(()=>{const s=d.current;if(!s)return;const c={original:l,synthetic:{values:[[],[]],source:[],partner:[],group:[],strength:[]},levels:[[],[]]},p=$e([u],[]),m=bn(s,c,[`${r}, true`,`${r}, predicted`],!1,{xs:p,ys:p},null),v=s.getContext("2d");v.strokeStyle=X(getComputedStyle(s),"ink"),v.lineWidth=1,v.setLineDash([5,4]),_e(v,m.x(p[0]),m.y(p[0]),m.x(p[1]),m.y(p[1])),v.setLineDash([])}),n("div",{class:"picture",children:n("canvas",{ref:d,role:"img","aria-label":`Predicted against true ${r} of ${e.length} held-out rows`})})}function On({of:e,name:t}){const r="counts"in e?e.counts.map((h,s)=>[x(e.low+(e.high-e.low)*s/e.counts.length),h]):[...e.levels,...e.others>0?[["others",e.others]]:[]],o=Math.max(1,...r.map(([,h])=>h)),[l,a]=[128,36],u=Math.min(24,l/Math.max(1,r.length)),d="counts"in e?`from ${x(e.low)} to ${x(e.high)}`:r.slice(0,4).map(([h,s])=>`${h} (${s})`).join(", ");return n("svg",{viewBox:`0 0 ${l} ${a}`,preserveAspectRatio:"none",role:"img","aria-label":`Histogram of ${t}: ${d}`,children:[n("line",{x1:"0",x2:l,y1:a-.5,y2:a-.5,stroke:"var(--rule)"}),r.map(([h,s],i)=>{const c=s/o*(a-2);return n("rect",{class:"bar",x:i*u+.5,y:a-1-c,width:Math.max(.5,u-1),height:c,children:n("title",{children:`${h}: ${s}`})})})]})}function Wn({candidates:e,events:t,lines:r}){const o=L(null),[l,a]=E(700);I(()=>{const _=new ResizeObserver(()=>a(Math.max(300,o.current?.clientWidth??700)));return o.current&&_.observe(o.current),()=>_.disconnect()},[]);const u=new Map(t.map(_=>[`${_.candidate}/${_.repeat}/${_.fold}`,_.rmse])),h=e.map((_,g)=>{const b=t.flatMap(w=>{if(w.candidate!==g||_.reference===null||_.reference===g)return[];const U=u.get(`${_.reference}/${w.repeat}/${w.fold}`);return U===void 0?[]:[100*(w.rmse/U-1)]});return{candidate:_,place:g,dots:b}}).filter(({candidate:_,place:g})=>_.reference!==null&&_.reference!==g),s=h.flatMap(({dots:_})=>_.map(g=>Math.abs(g))).sort((_,g)=>_-g),i=Math.max(5,Math.min(120,1.1*(s[Math.floor(s.length*.97)]??5))),c=Math.min(150,l*.36),[p,m]=[30,24],v=_=>c+8+(Math.max(-i,Math.min(i,_))+i)/(2*i)*(l-c-24),k=m+h.length*p+8;return n("div",{ref:o,children:[n("svg",{class:"dots",viewBox:`0 0 ${l} ${k}`,role:"img","aria-label":"Change in RMSE compared with no augmentation, one dot for every split",children:[vn(-i,i,l/75).map(_=>n("g",{children:[n("line",{class:_===0?"zero":"",x1:v(_),x2:v(_),y1:m-4,y2:k-6}),n("text",{class:"tick",x:v(_),y:"13","text-anchor":"middle",children:`${_>0?"+":""}${x(_)} %`})]},_)),h.map(({candidate:_,dots:g},b)=>{const w=m+b*p+p/2,U=g.reduce((T,R)=>T+R,0)/g.length,$=r?.find(T=>T.name===_.name);return n("g",{children:[n("text",{x:c,y:w+4,"text-anchor":"end",children:_.name.length>19?`${_.name.slice(0,18)}…`:_.name}),$?.low!=null&&$.high!=null&&n("line",{class:"interval",x1:v($.low),x2:v($.high),y1:w+8,y2:w+8}),g.map(T=>n("circle",{cx:v(T),cy:w,r:"4"})),g.length>0&&n("line",{class:"mean",x1:v(U),x2:v(U),y1:w-8,y2:w+8})]},_.name)})]}),n("p",{class:"about small",children:["Dot: one split. Vertical line: their mean.",r&&" Orange: 95 % interval of the expected change."]})]})}class fe extends Error{constructor(t,r){super(t),this.hint=r}}async function q(e,t){const r=t instanceof Blob;let o;try{o=await fetch(`api/${e}`,t===void 0?{}:{method:"POST",body:r?t:JSON.stringify(t)})}catch{throw new fe("The server does not answer.","start windlass studio again, and open its new address")}const l=await o.json();if(!o.ok)throw new fe(l.error,l.hint);return l}const ye={table:0,target:[],roles:{},nulls:[],sheet:null,drop_missing_target:!1,seed:0,split:"",method:"ada",params:{},copies:null,rare:null,clip:!1,format:"csv",methods:null,models:null,folds:null,repeats:null,resume:!1},qn=["Table","Augment","Does it help?","Model"],Se=e=>`${e>0?"+":e<0?"−":""}${Math.abs(e).toFixed(1)} %`,he=e=>e<1e6?`${Math.ceil(e/1e3)} kB`:`${(e/1e6).toFixed(1)} MB`,nn={target:"target",continuous:"number",categorical:"category",date:"date",carried:"keep, do not use",excluded:"leave out",weight:"row weight"},Y=(e,t)=>`${e.toLocaleString("en-US")} ${t}${e===1?"":"s"}`;function G({error:e}){if(!e)return null;const{message:t,hint:r}=e;return n("div",{class:"error",role:"alert",children:[n("b",{children:t}),r&&n("div",{children:["Hint: ",r]})]})}function ne({script:e}){const[t,r]=E(!1),[o,l]=E(!1);if(!e)return null;const a=t?e.python:e.command;return n("section",{class:"script","aria-label":"The same in a terminal or in Python",children:[n("div",{class:"row",children:[n("span",{class:"row",style:{margin:0},children:[n("button",{"aria-pressed":!t,onClick:()=>r(!1),children:"Command"}),n("button",{"aria-pressed":t,onClick:()=>r(!0),children:"Python"})]}),n("button",{onClick:async()=>{await navigator.clipboard.writeText(a),l(!0),setTimeout(()=>l(!1),1500)},children:o?"Copied":"Copy"})]}),n("pre",{tabIndex:0,children:a})]})}function wn({take:e,little:t,children:r}){const[o,l]=E(!1),a=L(null),u=d=>{const h=d?.[0];h&&e(h)};return n("div",{class:`drop${o?" over":""}${t?" little":""}`,onDragOver:d=>{d.preventDefault(),l(!0)},onDragLeave:()=>l(!1),onDrop:d=>{d.preventDefault(),l(!1),u(d.dataTransfer?.files)},children:[n("h2",{children:t?"Drop new rows here to predict them":"Drop a table here"}),n("div",{class:"row",children:[n("button",{class:t?"":"main",onClick:()=>a.current?.click(),children:"Choose a file"}),r]}),n("input",{ref:a,type:"file",class:"hidden",tabIndex:-1,"aria-label":t?"File of rows to predict":"Table file",accept:".csv,.tsv,.txt,.gz,.zst,.parquet,.arrow,.arrows,.feather,.xlsx,.ods",onChange:d=>{u(d.currentTarget.files),d.currentTarget.value=""}}),n("div",{class:"about small",children:"CSV, TSV, Parquet, Arrow, Excel or OpenDocument"})]})}function ae(e,t){const[r,o]=E(null),[l,a]=E(null),u=L([]),d=L(0),h=fn(async()=>{clearTimeout(d.current);try{const p=await q(`job/${e}?since=${u.current.length}`);if(!p)return o(null);u.current=[...u.current,...p.events],o({...p,events:u.current}),p.status==="running"&&(d.current=window.setTimeout(h,250))}catch(p){a(p)}},[e]);I(()=>(t&&h(),()=>clearTimeout(d.current)),[]);const s=async p=>{a(null);try{await q(`job/${e}`,p),u.current=[],await h()}catch(m){a(m)}},i=()=>q(`job/${e}/stop`,{}).then(h,a),c=r?.status==="failed"?new fe(r.error??"",r.hint):null;return{view:r,start:s,stop:i,running:r?.status==="running",error:l??c}}function se({job:e,what:t}){if(!e.running||!e.view)return null;const{done:r,all:o,stage:l,stopping:a,seconds:u}=e.view,d=o>0&&r>2&&r<o?`, about ${Math.ceil(u/r*(o-r))} s left`:"";return n("div",{class:"row",role:"status",children:[n("progress",{"aria-label":t,...o>0?{value:Math.min(r,o),max:o}:{}}),n("span",{class:"small about",children:a?"stopping…":`${l}${o>0?`: ${r} of ${o}`:""}${d}`}),n("button",{onClick:e.stop,disabled:a,children:"Stop"})]})}function Bn({settings:e,change:t,table:r,go:o}){const l=e.target[0]??"",a=r.columns.filter(i=>i.range!==null&&i.role!=="excluded"),u=(i,c)=>{const{[i]:p,...m}=e.roles,v=e.target.filter(k=>k!==i);t(c==="target"?{target:[...v,i],roles:m}:{target:v,roles:c==="auto"?m:{...m,[i]:c}})},d=i=>{const{[i]:c,...p}=e.roles;t({target:i?[i]:[],roles:p})},h=i=>t({...i,...i.sheet?{target:[],roles:{}}:{},...i.roles?{roles:{...e.roles,...i.roles}}:{},...i.nulls?{nulls:[...e.nulls,...i.nulls]}:{}}),s=e.nulls.length>0||e.sheet!==null||e.drop_missing_target||Object.keys(e.roles).length>0||e.split!=="";return n(z,{children:[n("h1",{children:r.name}),n("p",{class:"about",children:[Y(r.rows,"row"),", ",Y(r.columns.length,"column")]}),n("div",{class:"row",children:[n("label",{children:[n("b",{children:"Predict"}),n("select",{"aria-label":"Target: the column to predict",value:l,onChange:i=>d(i.currentTarget.value),children:[n("option",{value:"",children:"choose a column…"}),a.map(({name:i})=>n("option",{value:i,children:i}))]})]}),e.target.length>1&&n("span",{class:"about",children:["and ",e.target.slice(1).join(", ")]}),l&&!r.notes.some(i=>i.problem)&&n("button",{class:"main",onClick:()=>o(1),children:"See augmentation"}),s&&n("button",{onClick:()=>t({nulls:[],sheet:null,drop_missing_target:!1,roles:{},split:""}),children:"Undo all changes"})]}),!l&&n("div",{class:"verdict",children:"Which column do you want to predict? Choose it above; it must have numbers."}),r.notes.length>0&&n("ul",{class:"notes","aria-label":"Notes on the table",children:r.notes.map(i=>n("li",{class:i.problem?"problem":"",children:[n("span",{children:i.text}),i.fix&&n("button",{onClick:()=>h(i.fix.set),children:i.fix.label})]}))}),n("table",{class:"columns",children:[n("thead",{children:n("tr",{children:[n("th",{children:"column"}),n("th",{children:"role"}),n("th",{children:"because"}),n("th",{class:"n",children:"missing"}),n("th",{class:"n",children:"distinct"}),n("th",{class:"n",children:"range"}),n("th",{children:"values"})]})}),n("tbody",{children:r.columns.map(i=>{const c=i.role==="carried"||i.role==="excluded";return n("tr",{class:i.role==="target"?"target":c?"ignored":"",children:[n("td",{children:i.name}),n("td",{children:n("select",{"aria-label":`Role of ${i.name}`,value:i.requested?i.role:"auto",onChange:p=>u(i.name,p.currentTarget.value),children:[n("option",{value:"auto",children:i.requested?"automatic":nn[i.role]}),Object.entries(nn).filter(([p])=>p!=="date"&&(i.range||p!=="target"&&p!=="weight")).filter(([p])=>i.requested||p!==i.role).map(([p,m])=>n("option",{value:p,children:m}))]})}),n("td",{class:"why",children:i.requested?`chosen (${i.reason})`:i.reason}),n("td",{class:"n","data-label":"missing",children:i.missing||"0"}),n("td",{class:"n","data-label":"distinct",children:i.distinct??"many"}),n("td",{class:"n","data-label":"range",children:i.range?`${x(i.range[0])} to ${x(i.range[1])}`:"–"}),n("td",{class:"picture-cell",children:n(On,{of:i.distribution,name:i.name})})]})})})]}),n(ne,{script:r.script})]})}function Te({value:e,low:t,high:r,set:o}){const[l,a]=E(String(e));return I(()=>a(String(e)),[e]),n("input",{type:"number",min:t,max:r,value:l,onInput:u=>{const d=u.currentTarget.value;a(d);const h=Number(d);d!==""&&Number.isInteger(h)&&h>=t&&h<=r&&o(h)},onBlur:()=>a(String(e))})}function pe(e){const{low:t,high:r,log:o}=e,l=u=>o?Math.log(u):u,a=u=>o?Number(Math.exp(u).toPrecision(3)):u;return n("label",{class:"field",children:[n("span",{children:[e.label,n("em",{"aria-hidden":"true",children:e.text})]}),n("input",{type:"range","aria-valuetext":e.text,min:l(t),max:l(r),step:e.step??(l(r)-l(t))/200,value:l(e.value),onInput:u=>e.set(a(Number(u.currentTarget.value)))}),e.help&&n("small",{children:e.help})]})}function Ae({param:e,value:t,set:r}){const o=e.name.replaceAll("_"," "),[l,a]=E(t??"");if(I(()=>a(t??""),[t]),e.search){const{low:u,high:d,unit:h}=e.search,s=Number.parseFloat(t??e.default??""),i=Number.isFinite(s)?s:Math.sqrt(u*d);return n(pe,{label:e.name==="alpha"?"strength α":o,help:e.help,low:Math.min(u,i),high:Math.max(d,i),log:!0,value:i,text:t??(e.default?x(i,3):"default"),set:c=>r(`${c}${h}`)})}return n("label",{class:"field",children:[n("span",{children:o}),n("input",{type:"text",value:l,placeholder:e.default??"",onInput:u=>a(u.currentTarget.value),onChange:u=>r(u.currentTarget.value.trim()||null)}),n("small",{children:[e.help,": ",e.range]})]})}function Vn({state:e,settings:t,change:r,table:o}){const l=e.methods.find(({name:f})=>f===t.method),a=o.columns.filter(f=>f.role!=="excluded"),u=t.target[0],[d,h]=E(["",u]),[s,i]=E(!0),[c,p]=E(null),[m,v]=E({since:0,names:d}),[k,_]=E(null),[g,b]=E(null),w=ae("augment",!1),U=L(null),$=L(!1),T=L(0),R=f=>a.some(D=>D.name===f)?f:"",N=async()=>{if($.current||!U.current)return;$.current=!0;const{settings:f,axes:D,since:B}=U.current;U.current=null;try{const H=await q("preview",{settings:f,x:D[0],y:D[1]});p(H),v({since:B,names:H.names}),_(null)}catch(H){_(H)}$.current=!1,N()};_n(()=>{U.current={settings:t,axes:[R(d[0]),R(d[1])],since:T.current},N();const f=setTimeout(()=>q("similarity",t).then(b,()=>b(null)),400);return()=>clearTimeout(f)},[t,d]);const J=f=>{T.current=performance.now(),r(f)},A=(f,D)=>{const{[f]:B,...H}=t.params;J({params:D===null?H:{...H,[f]:D}})},y=l.name==="ada",S=t.params.gamma!==void 0&&Number.isFinite(Number(t.params.gamma)),j=t.params.anchors??"kmeans",O=Number(t.params.clusters??0),F=["anchors","clusters","alpha","gamma"],te=l.params.filter(f=>f.search&&!F.includes(f.name)),Q=l.params.filter(f=>!te.includes(f)&&!(y&&F.includes(f.name))),je=(f,D)=>n("label",{children:[D,n("select",{value:R(d[f])||m.names[f],onChange:B=>{const H=B.currentTarget.value;h(f===0?[H,d[1]]:[d[0],H])},children:a.map(({name:B})=>n("option",{value:B,children:B}))})]}),He=async f=>{await w.start({...t,format:f})};return I(()=>{if(w.view?.status!=="done"||!w.view.result)return;const f=document.createElement("a");f.href=`file/${w.view.result.file}`,f.download=w.view.result.file,f.click()},[w.view?.status,w.view?.seconds]),n(z,{children:[n("h1",{children:"See augmentation"}),n("p",{class:"about",children:"Synthetic rows are made from yours. Move the sliders and look: do they still look like rows that you could have measured?"}),n(G,{error:k}),n("div",{class:"split",children:[n("section",{"aria-label":"Settings",children:[n("label",{class:"field",children:[n("span",{children:"method"}),n("select",{value:t.method,onChange:f=>J({method:f.currentTarget.value,params:{},rare:null}),children:e.methods.map(({name:f,title:D})=>n("option",{value:f,children:D}))}),n("small",{children:l.help})]}),y&&n(z,{children:[n("label",{class:"field",children:[n("span",{children:"groups"}),n("select",{value:j,onChange:f=>{const{anchors:D,clusters:B,...H}=t.params,Fe=f.currentTarget.value;J({params:Fe==="kmeans"?H:{...H,anchors:Fe}})},children:[n("option",{value:"kmeans",children:"similar rows (k-means)"}),o.anchors.map(f=>n("option",{value:`column:${f}`,children:`same ${f}`}))]})]}),j==="kmeans"&&n(pe,{label:"number of groups",low:1,high:40,step:1,value:O||1,text:O?String(O):"automatic",set:f=>A("clusters",f<2?null:String(f))}),n("label",{class:"field",children:[n("span",{children:"strength"}),n("select",{value:S?"fixed":"random",onChange:f=>{const{gamma:D,alpha:B,...H}=t.params;J({params:f.currentTarget.value==="fixed"?{...H,gamma:"0.5"}:H})},children:[n("option",{value:"random",children:"γ differs from row to row"}),n("option",{value:"fixed",children:"one γ for all rows"})]})]}),S?n(pe,{label:"γ",help:"above 1: toward the mean of the group; below 1: away from it",low:.1,high:10,log:!0,value:Number(t.params.gamma),text:t.params.gamma,set:f=>A("gamma",String(f))}):n(Ae,{param:l.params.find(({name:f})=>f==="alpha"),value:t.params.alpha,set:f=>A("alpha",f)})]}),te.map(f=>n(Ae,{param:f,value:t.params[f.name],set:D=>A(f.name,D)},f.name)),n(pe,{label:"synthetic rows per row",low:1,high:20,step:1,value:t.copies??1,text:String(t.copies??(l.rare||t.rare?"automatic":1)),set:f=>J({copies:f})}),n("label",{class:"field",children:[n("span",{children:"random seed"}),n(Te,{value:t.seed,low:0,high:2**53-1,set:f=>J({seed:f})})]}),n("details",{children:[n("summary",{children:"More settings"}),n("label",{class:"field",children:[n("span",{children:"rows to start from"}),n("select",{value:t.rare??"",onChange:f=>J({rare:f.currentTarget.value||null,copies:null}),children:[n("option",{value:"",children:l.rare?"rare targets, high and low":"all rows"}),n("option",{value:"high",children:"rows with a rare high target"}),n("option",{value:"low",children:"rows with a rare low target"}),n("option",{value:"both",children:"rows with a rare high or low target"}),n("option",{value:"density",children:"rows in sparse ranges of the target"})]})]}),n("label",{class:"row",children:[n("input",{type:"checkbox",checked:t.clip,onChange:f=>J({clip:f.currentTarget.checked})}),"clip to the observed range"]}),Q.map(f=>n(Ae,{param:f,value:t.params[f.name],set:D=>A(f.name,D)},f.name))]})]}),n("section",{class:"first","aria-label":"Original and synthetic rows",children:[n("div",{class:"axes",children:[je(0,"x"),je(1,"y"),c&&c.synthetic.group.length>0&&n("label",{children:[n("input",{type:"checkbox",checked:s,onChange:f=>i(f.currentTarget.checked)}),"color by group"]})]}),c&&n(Rn,{data:c,names:m.names,byGroup:s,since:m.since}),c?.sampled&&n("p",{class:"about small",children:["Drawn and augmented here: a sample of ",Y(c.sampled,"row"),". The download has all of them."]}),n("div",{class:"row",children:[n("button",{class:"main",disabled:w.running||!!k,onClick:()=>He("csv"),children:"Download CSV"}),n("button",{disabled:w.running||!!k,onClick:()=>He("parquet"),children:"Download Parquet"}),n("span",{class:"about small",children:"with the source, group and strength of each row"})]}),n(se,{job:w,what:"Writing the augmented table"}),n(G,{error:w.error}),n("p",{class:"about small",children:"Augment training rows only: split before you augment, or the test error is too low."})]})]}),g&&n(Gn,{found:g}),n(ne,{script:c?.script})]})}function Gn({found:e}){const{columns:t,correlations:r,correlation_difference:o}=e.similarity,l=t.filter(a=>a.levels.length===0&&a.role!=="date").slice(0,30);return n("div",{class:"cards",children:[n("section",{children:[n("h2",{children:"Columns before and after"}),n("p",{class:"about small",children:e.words}),n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{children:"column"}),n("th",{class:"n",children:"mean"}),n("th",{class:"n",children:"synthetic"}),n("th",{class:"n",children:"sd"}),n("th",{class:"n",children:"synthetic"}),n("th",{class:"n",children:"outside"})]})}),n("tbody",{children:l.map(a=>n("tr",{children:[n("td",{children:a.name}),n("td",{class:"n",children:x(a.real.mean)}),n("td",{class:"n",children:x(a.synthetic.mean)}),n("td",{class:"n",children:x(a.real.sd,3)}),n("td",{class:"n",children:x(a.synthetic.sd,3)}),n("td",{class:"n",children:a.outside})]}))})]})})]}),n("section",{children:[n("h2",{children:"Correlations before and after"}),n("p",{class:"about small",children:o===null?"There is nothing to compare.":`They differ by ${x(o,2)} on average. The largest differences:`}),n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{children:"columns"}),n("th",{class:"n",children:"original"}),n("th",{class:"n",children:"synthetic"})]})}),n("tbody",{children:r.slice(0,8).map(a=>n("tr",{children:[n("td",{children:a.columns.join(", ")}),n("td",{class:"n",children:x(a.real,3)}),n("td",{class:"n",children:x(a.synthetic,3)})]}))})]})})]})]})}function yn({settings:e,change:t,table:r}){const o=r.groups.filter(l=>!e.target.includes(l));return n("label",{class:"field",children:[n("span",{children:"new rows will be"}),n("select",{value:e.split,onChange:l=>t({split:l.currentTarget.value}),children:[n("option",{value:"",children:"like these rows (random rows are held out)"}),r.times.map(l=>n("option",{value:`time:${l}`,children:`later in ${l}`})),o.map(l=>n("option",{value:`group:${l}`,children:`of another ${l}`})),o.map(l=>n("option",{value:`domain:${l}`,children:`of another ${l}, one ${l} at a time`}))]})]})}function Sn(e,t){const[r,o]=E(null);return I(()=>{let l=!0;return q(`script/${e}`,t).then(a=>l&&o(a),()=>l&&o(null)),()=>{l=!1}},[t]),r}function Xn(e){const{state:t,settings:r,change:o}=e,l=ae("compare",t.jobs.includes("compare")),a=Sn("compare",r),u=r.methods??t.compared.filter(p=>p.default).map(({name:p})=>p),d=r.models??["mlp","ridge","forest","auto"],h=(p,m)=>p.includes(m)?p.filter(v=>v!==m):[...p,m],s=l.view?.status==="done"?l.view.result:null,i=t.compared.filter(p=>!p.rare),c=p=>t.models.map(({name:m})=>m).filter(m=>p.includes(m));return n(z,{children:[n("h1",{children:"Does it help?"}),n("p",{class:"about",children:["Every candidate is trained on the same rows and tested on the same held-out rows, ",r.folds??t.folds," folds ×"," ",r.repeats??t.repeats," repeats. A dot is one split: left of the line is better than no augmentation."]}),n("details",{open:!l.view,children:[n("summary",{children:"What to compare"}),n("div",{class:"cards",children:[n("section",{children:n("fieldset",{class:"checks",children:[n("legend",{children:"augmentations of a network"}),i.map(({name:p,help:m})=>n("label",{title:m,children:[n("input",{type:"checkbox",checked:u.includes(p),disabled:p==="none",onChange:()=>o({methods:h(u,p)})}),p]}))]})}),n("section",{children:[n("fieldset",{class:"checks",children:[n("legend",{children:"models"}),t.models.map(({name:p,help:m})=>n("label",{title:m,children:[n("input",{type:"checkbox",checked:d.includes(p),disabled:p==="mlp",onChange:()=>o({models:c(h(d,p))})}),p==="mlp"?"network":p]}))]}),n(yn,{...e}),n("div",{class:"row",children:[n("label",{children:["folds",n(Te,{value:r.folds??t.folds,low:2,high:1e3,set:p=>o({folds:p})})]}),n("label",{children:["repeats",n(Te,{value:r.repeats??t.repeats,low:1,high:1e3,set:p=>o({repeats:p})})]})]})]})]})]}),n("div",{class:"row",children:[n("button",{class:"main",disabled:l.running,onClick:()=>l.start({...r,resume:!1}),children:l.view?"Compare again":"Compare"}),l.view?.status==="stopped"&&n("button",{class:"main",onClick:()=>l.start({...r,resume:!0}),children:"Resume"}),l.view?.status==="stopped"&&n("span",{class:"about",children:["Stopped after ",Y(l.view.events.length,"run"),", which are kept."]})]}),n(se,{job:l,what:"Comparing"}),n(G,{error:l.error}),s&&n("div",{class:`verdict${s.helps?" good":""}`,children:[n("p",{class:"answer",children:s.answer}),n("p",{children:s.verdict}),s.next&&n("p",{children:n("b",{children:["Next step: ",s.next,"."]})}),s.command&&n("pre",{children:s.command})]}),l.view?.info&&n(Wn,{candidates:l.view.info.candidates,events:l.view.events,lines:s?.lines??null}),s&&n(z,{children:[n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{children:"candidate"}),n("th",{class:"n",children:"RMSE"}),n("th",{class:"n",children:"change"}),n("th",{class:"n",children:"95 % interval"}),n("th",{children:"verdict"})]})}),n("tbody",{children:s.lines.map(p=>n("tr",{children:[n("td",{children:p.name}),n("td",{class:"n",children:x(p.rmse)}),n("td",{class:"n",children:p.mean===null?"":Se(p.mean)}),n("td",{class:"n",children:p.low===null||p.high===null?"":`${Se(p.low)} … ${Se(p.high)}`}),n("td",{class:p.finding==="better"||p.finding==="worse"?p.finding:"",children:p.finding})]}))})]})}),n("div",{class:"row",style:{marginTop:"1rem"},children:[n("a",{class:"button",href:"file/report.html",download:"report.html",children:"Download the report"}),n("a",{class:"button",href:"file/results.json",download:"results.json",children:"Download all numbers"})]}),n("h2",{children:"Report"}),n("iframe",{title:"Report of the comparison",src:`${t.report}?${l.view?.seconds}`,sandbox:"allow-scripts"},l.view?.seconds)]}),n(ne,{script:a})]})}function Kn(e){const{state:t,settings:r}=e,o=ae("train",t.jobs.includes("train")),l=Sn("train",r),a=o.view?.status==="done"?o.view.result:o.view?null:t.model;return n(z,{children:[n("h1",{children:"Model"}),n("p",{class:"about",children:"Networks, linear models, trees and a Gaussian process are fitted and averaged with the weights that minimize the error of held-out rows."}),n(yn,{...e}),n("div",{class:"row",children:[n("button",{class:"main",disabled:o.running,onClick:()=>o.start({...r,resume:!1}),children:a?"Train again":"Train a model"}),o.view?.status==="stopped"&&n("span",{class:"about",children:"Stopped."})]}),n(se,{job:o,what:"Training"}),n(G,{error:o.error}),a&&n(Yn,{model:a,settings:r,state:t}),n(ne,{script:l})]})}function Yn({model:e,settings:t,state:r}){const o=e.valid,l=e.targets[0],a=Math.max(1e-12,...e.importance.map(({rmse_increase:s})=>s)),u=e.portfolio.filter(({weight:s})=>s>0),d=ae("distill",r.jobs.includes("distill")),h=d.view?.status==="done"?d.view.result:null;return n(z,{children:[o&&n("div",{class:"verdict good",children:[n("p",{children:["Expected error for new rows, measured on ",Y(o.rows,"row")," that were held out in turn:"]}),n("div",{class:"numbers",children:[n("div",{children:[n("b",{children:x(o.rmse)}),"RMSE"]}),n("div",{children:[n("b",{children:x(o.mae)}),"mean absolute error"]}),n("div",{children:[n("b",{children:o.r2===null?"–":o.r2.toFixed(3)}),"R²"]})]})]}),(e.notes.length>0||e.drift)&&n("ul",{class:"notes",children:[...e.notes,...e.drift?[`Drift: ${e.drift}`]:[]].map(s=>n("li",{children:n("span",{children:s})}))}),n("div",{class:"cards",children:[e.held_out&&n("section",{children:[n("h2",{children:["Predicted and true ",l," of held-out rows"]}),n(In,{y:e.held_out.y,predicted:e.held_out.predicted,name:l})]}),n("section",{children:[n("h2",{children:"Which columns matter"}),n("p",{class:"about small",children:"Increase in RMSE if the values of the column are shuffled"}),n("div",{class:"meter",children:e.importance.slice(0,12).map(({column:s,rmse_increase:i})=>n(z,{children:[n("span",{title:s,children:s}),n("div",{children:n("i",{style:{width:`${Math.max(0,100*(i/a))}%`}})}),n("b",{children:x(i,3)})]}))}),n("h2",{style:{marginTop:"1.5rem"},children:"The ensemble"}),n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{children:"model"}),n("th",{class:"n",children:"weight"}),n("th",{class:"n",children:"RMSE alone"})]})}),n("tbody",{children:u.map(({name:s,weight:i,rmse:c})=>n("tr",{children:[n("td",{children:s}),n("td",{class:"n",children:[Math.round(100*i)," %"]}),n("td",{class:"n",children:x(c)})]}))})]})})]})]}),n(Qn,{model:e}),n(Zn,{settings:t,state:r}),n("h2",{children:"Take it with you"}),n("div",{class:"row",children:[n("a",{class:"button main",href:"file/model.windlass",download:"model.windlass",children:["Model (",he(e.bytes),")"]}),n("a",{class:"button",href:"file/model.onnx",download:"model.onnx",children:"ONNX"}),n("a",{class:"button",href:"file/model.h",download:"model.h",children:"C code"})]}),n("p",{class:"about",children:"Or distill it into one small network, for a sensor or a spreadsheet: about the same error, a fraction of the size."}),n("div",{class:"row",children:[n("button",{disabled:d.running,onClick:()=>d.start({}),children:"Distill"}),h&&n(z,{children:[n("a",{class:"button",href:"file/small.windlass",download:"small.windlass",children:["Small model (",he(h.student.bytes),")"]}),n("a",{class:"button",href:"file/small.h",download:"small.h",children:"Small C code"}),n("a",{class:"button",href:"file/small.onnx",download:"small.onnx",children:"Small ONNX"})]})]}),n(se,{job:d,what:"Distilling"}),n(G,{error:d.error}),h&&n(z,{children:[n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{}),n("th",{class:"n",children:"expected RMSE"}),n("th",{class:"n",children:"size"}),n("th",{class:"n",children:"time for a row"})]})}),n("tbody",{children:["teacher","student"].map(s=>n("tr",{children:[n("td",{children:s==="teacher"?"ensemble":"small network"}),n("td",{class:"n",children:x(h[s].valid?.rmse)}),n("td",{class:"n",children:he(h[s].bytes)}),n("td",{class:"n",children:[x(h[s].microseconds,3)," µs"]})]}))})]})}),h.difference&&n("p",{class:"about small",children:["The RMSE of the small network is ",h.difference,"."]}),n(ne,{script:h.script})]})]})}function Qn({model:e}){const[t,r]=E(()=>Object.fromEntries(e.inputs.map(({name:h})=>[h,e.first[h]??""]))),[o,l]=E(null),[a,u]=E(null);I(()=>{let h=!0;const s=setTimeout(()=>{q("predict",t).then(i=>{h&&(l(i),u(null))},i=>h&&u(i))},120);return()=>{h=!1,clearTimeout(s)}},[t]);const d=(h,s)=>r({...t,[h]:s});return n("section",{children:[n("h2",{children:"Predict one row"}),n("div",{class:"typed",children:e.inputs.map(h=>n("label",{children:[n("span",{title:h.name,children:h.name}),h.kind==="category"?n("select",{value:t[h.name]??"",onChange:s=>d(h.name,s.currentTarget.value),children:[n("option",{value:"",children:"missing"}),(h.levels??[]).map(s=>n("option",{value:s,children:s}))]}):n("input",{type:"text",inputMode:h.kind==="number"?"decimal":"text",placeholder:"missing",value:t[h.name]??"",onInput:s=>d(h.name,s.currentTarget.value)}),h.range&&n("small",{children:[x(h.range[0])," to ",x(h.range[1])]})]}))}),n(G,{error:a}),o&&!a&&n("div",{class:o.notes.length?"verdict bad":"verdict good",role:"status",children:[o.targets.map((h,s)=>n("p",{children:[h,": ",n("b",{class:"answer",children:x(o.prediction[s])}),o.low&&o.high&&o.level&&n(z,{children:[" ",Math.round(100*o.level)," % of new rows are between ",n("b",{children:x(o.low[s])})," and ",n("b",{children:x(o.high[s])})]})]})),o.notes.map(h=>n("p",{children:[n("b",{children:"Careful:"})," ",h.replace(/^1 row has a value/,"it has a value"),"."]}))]})]})}function Zn({settings:e,state:t}){const r=ae("predict",t.jobs.includes("predict")),[o,l]=E(null),a=async d=>{l(null);try{const{id:h}=await An(d,t.max_upload);await r.start({table:h,nulls:e.nulls})}catch(h){l(h)}},u=r.view?.status==="done"?r.view.result:null;return n("section",{children:[n("h2",{children:"Predict a table"}),n(wn,{take:a,little:!0}),n(se,{job:r,what:"Predicting"}),n(G,{error:o??r.error}),u&&n(z,{children:[n("div",{class:"row",style:{marginTop:".75rem"},children:[n("a",{class:"button main",href:"file/predictions.csv",download:"predictions.csv",children:["Download ",Y(u.rows,"prediction")]}),u.metrics&&n("span",{children:["RMSE on the ",Y(u.metrics.rows,"row")," with a target: ",n("b",{children:x(u.metrics.rmse)})]})]}),u.notes.length>0&&n("ul",{class:"notes",children:u.notes.map(d=>n("li",{children:n("span",{children:d})}))}),n("div",{class:"scroll",children:n("table",{children:[n("thead",{children:n("tr",{children:[n("th",{class:"n",children:"row"}),u.columns.map(d=>n("th",{class:"n",children:d.replaceAll("_"," ")}))]})}),n("tbody",{children:u.shown.slice(0,8).map((d,h)=>n("tr",{children:[n("td",{class:"n",children:h+1}),d.map(s=>n("td",{class:"n",children:x(s)}))]}))})]})}),n(ne,{script:u.script})]})]})}async function An(e,t){if(e.size>t)throw new fe(`The file is larger than ${he(t)}.`,"start windlass studio FILE, or use the command, which streams files of any size");return q(`tables?name=${encodeURIComponent(e.name)}`,e)}function et(){const[e,t]=E(null),[r,o]=E(ye),[l,a]=E(null),[u,d]=E(0),[h,s]=E(null),[i,c]=E(!1),p=L(null),m=y=>{a(null),d(0),o({...ye,table:y})};I(()=>{q("state").then(S=>{t(S);const j=S.tables.at(-1);j&&m(j.id)},s);const y=S=>S.preventDefault();return window.addEventListener("dragover",y),window.addEventListener("drop",y),()=>{window.removeEventListener("dragover",y),window.removeEventListener("drop",y)}},[]);const{table:v,target:k,roles:_,nulls:g,sheet:b,drop_missing_target:w,split:U}=r,$=JSON.stringify([v,k,_,g,b,w,U]);I(()=>{if(!v)return;let y=!0;return c(!0),q("inspect",{table:v,target:k,roles:_,nulls:g,sheet:b,drop_missing_target:w,split:U}).then(S=>{y&&(a(S),s(null),c(!1))},S=>{y&&(s(S),c(!1))}),()=>{y=!1}},[$]);const T=async y=>{if(e){s(null),c(!0);try{const{id:S,name:j}=await An(y,e.max_upload);t({...e,tables:[...e.tables,{id:S,name:j}],jobs:[],model:null}),m(S)}catch(S){s(S),c(!1)}}},R=fn(y=>o(S=>({...S,...y})),[]),N=y=>{d(y),window.scrollTo(0,0),p.current?.focus()},J=r.target.length>0&&l!==null&&!l.notes.some(y=>y.problem),A=De(()=>({state:e,settings:r,change:R,table:l}),[e,r,l]);return n(z,{children:[n("a",{class:"skip",href:"#main",children:"Skip to the content"}),n("header",{children:n("div",{children:[n("span",{class:"brand",children:[n("img",{src:"icon.svg",alt:""}),"Windlass Studio"]}),r.table>0&&n("nav",{"aria-label":"Steps",children:qn.map((y,S)=>n("button",{"aria-current":u===S?"step":void 0,disabled:S>0&&!J,onClick:()=>N(S),children:[n("b",{children:S+1}),y]}))}),r.table>0&&n("span",{class:"opened",children:[n("span",{title:l?.name,children:l?.name}),n("button",{onClick:()=>{o(ye),a(null),s(null)},children:"Open another"})]})]})}),n("main",{id:"main",tabIndex:-1,ref:p,class:i&&l?"waiting":"","aria-busy":i,children:[n(G,{error:h}),r.table===0&&e&&n(nt,{take:T}),r.table>0&&!l&&!h&&n("p",{role:"status",children:"Reading the table…"}),e&&l&&u===0&&n(Bn,{...A,go:N}),e&&l&&J&&u===1&&n(Vn,{...A}),e&&l&&J&&u===2&&n(Xn,{...A}),e&&l&&J&&u===3&&n(Kn,{...A})]})]})}function nt({take:e}){return n("div",{class:"start",children:[n("h1",{children:"Regression on small tables"}),n("p",{class:"about",children:"Open a table with a few dozen to a few thousand rows. Nothing leaves this computer."}),n(wn,{take:e,children:n("button",{onClick:()=>e(new File([Dn],"auto_mpg.csv",{type:"text/csv"})),children:"Try the example: 398 cars"})}),n("ol",{children:[n("li",{children:[n("b",{children:"1 Table"}),n("span",{class:"about",children:"columns, roles, and what to fix"})]}),n("li",{children:[n("b",{children:"2 Augment"}),n("span",{class:"about",children:"see synthetic rows move with a slider"})]}),n("li",{children:[n("b",{children:"3 Does it help?"}),n("span",{class:"about",children:"an honest test on held-out rows"})]}),n("li",{children:[n("b",{children:"4 Model"}),n("span",{class:"about",children:"its error, its intervals, and predictions"})]})]})]})}Tn(n(et,{}),document.body);
